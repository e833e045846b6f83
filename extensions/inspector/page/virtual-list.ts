import { type ComponentChildren, html, useEffect, useRef, useState } from '../vendor/preact.js';

const overscan = 8;
/** Rows that are in the page at once, however tall it is. */
const rowsAtMost = 90;

/** A list of any length, of which only the rows in sight are in the page. The arrow keys go from row to row. */
export function VirtualList({
  count,
  row,
  label,
  kind,
  onEnd,
  onTop,
}: {
  readonly count: number;
  readonly row: (at: number) => ComponentChildren;
  readonly label: string;
  /** A name for the style, which has the height of a row. */
  readonly kind: string;
  /** The last rows are in sight. */
  readonly onEnd: () => void;
  readonly onTop: (isAtTop: boolean) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState({ height: 600, row: 28 });
  const [, draw] = useState(0);
  const focused = useRef<number | undefined>(undefined);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => {
      const rowHeight = Number.parseFloat(getComputedStyle(element).getPropertyValue('--row'));
      setSize({ height: element.clientHeight, row: rowHeight || 28 });
    };
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, [kind]);

  const first = Math.max(0, Math.floor(top / size.row) - overscan);
  const shown = Math.min(rowsAtMost, Math.ceil(size.height / size.row) + 2 * overscan);
  const end = Math.min(count, first + shown);
  useEffect(() => {
    if (end >= count - overscan) onEnd();
  }, [end, count]);
  useEffect(() => {
    if (focused.current === undefined) return;
    box.current?.querySelector<HTMLElement>(`[data-at="${focused.current}"] a`)?.focus({
      preventScroll: true,
    });
  });

  const scrolled = (): void => {
    const at = box.current?.scrollTop ?? 0;
    setTop(at);
    onTop(at < size.row);
  };
  const pressed = (event: KeyboardEvent): void => {
    const page = Math.floor(size.height / size.row) - 1;
    const steps: Readonly<Record<string, number>> = {
      ...{ ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page },
      ...{ Home: -count, End: count },
    };
    const step = steps[event.key];
    const element = box.current;
    if (step === undefined || element === null || count === 0) return;
    event.preventDefault();
    const from = focused.current ?? (step > 0 ? -1 : 0);
    const at = Math.max(0, Math.min(count - 1, from + step));
    focused.current = at;
    const place = at * size.row;
    if (place < element.scrollTop) element.scrollTop = place;
    if (place + size.row > element.scrollTop + size.height)
      element.scrollTop = place + size.row - size.height;
    setTop(element.scrollTop);
    draw((times) => times + 1); // also if nothing scrolls: the focus goes on
  };

  const rows = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
  return html`<div
    class="virtual ${kind}"
    ref=${box}
    tabindex="0"
    role="region"
    aria-label=${label}
    onScroll=${scrolled}
    onKeyDown=${pressed}
    onFocusOut=${({ relatedTarget }: FocusEvent) => {
      if (!(relatedTarget instanceof Node && box.current?.contains(relatedTarget)))
        focused.current = undefined;
    }}
  >
    <ul style=${{ height: `${count * size.row}px` }}>
      ${rows.map(
        (at) =>
          html`<li
            key=${at}
            data-at=${at}
            aria-setsize=${count}
            aria-posinset=${at + 1}
            style=${{ transform: `translateY(${at * size.row}px)` }}
          >
            ${row(at)}
          </li>`,
      )}
    </ul>
  </div>`;
}
