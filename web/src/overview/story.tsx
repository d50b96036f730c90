import { Cards } from "../cards";
import type { Summary } from "../summary";

// The story in a sentence, then its figures.
export function StoryView({ summary }: { summary: Summary }) {
  return (
    <>
      <section class="story">
        <h1>{summary.story.headline}</h1>
        {summary.story.detail && <p>{summary.story.detail}</p>}
        {summary.warnings.map((warning) => <p key={warning} class="lost">{warning}</p>)}
      </section>
      <Cards cards={summary.cards} label="Figures" />
    </>
  );
}
