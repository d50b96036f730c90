import type { Card } from "./summary";

// Figures side by side. `label` says what they are of.
export function Cards({ cards, label }: { cards: Card[]; label: string }) {
  if (cards.length === 0) return null;
  return (
    <section class="cards" aria-label={label}>
      {cards.map((card) => (
        <div key={card.label} class="panel card">
          <span>{card.label}</span>
          <b title={card.value}>{card.value}</b>
          <small>{card.note}</small>
        </div>
      ))}
    </section>
  );
}
