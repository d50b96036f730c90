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
      {summary.cards.length > 0 && (
        <section class="cards" aria-label="Figures">
          {summary.cards.map((card) => (
            <div key={card.label} class="panel card">
              <span>{card.label}</span>
              <b title={card.value}>{card.value}</b>
              <small>{card.note}</small>
            </div>
          ))}
        </section>
      )}
    </>
  );
}
