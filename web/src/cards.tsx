import { Link } from "./link";
import type { Card } from "./summary";

// Figures side by side. `label` says what they are of.
export function Cards({ cards, label }: { cards: Card[]; label: string }) {
  if (cards.length === 0) return null;
  return (
    <section class="cards" aria-label={label}>
      {cards.map((card) => (
        <Link key={card.label} class="panel card" to={card.to ?? null}>
          <span>{card.label}</span>
          <b title={card.value}>{card.value}</b>
          <small>{card.note}</small>
        </Link>
      ))}
    </section>
  );
}
