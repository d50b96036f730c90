// What the pointer is over, beside it.
export interface Tip {
  x: number; // on the canvas
  y: number;
  title: string;
  lines: string[];
}

export function Tooltip({ tip }: { tip: Tip }) {
  const flip = tip.x > 0.6 * document.documentElement.clientWidth;
  const place = flip ? { right: `calc(100% - ${tip.x - 12}px)` } : { left: `${tip.x + 14}px` };
  return (
    <div class="tip" style={{ ...place, top: `${tip.y + 14}px` }} role="tooltip">
      <b>{tip.title.length > 300 ? `${tip.title.slice(0, 299)}…` : tip.title}</b>
      {tip.lines.map((line) => <span key={line}>{line}</span>)}
    </div>
  );
}
