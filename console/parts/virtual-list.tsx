import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

interface VirtualListProps<Item> {
  readonly items: readonly Item[];
  readonly rowHeight: number | ((item: Item) => number);
  readonly keyOf: (item: Item) => string;
  readonly render: (item: Item, index: number) => JSX.Element;
  readonly label: string;
  readonly shownIndex?: number;
  readonly onPointer?: (isInside: boolean) => void;
}

const spare = 400;

export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { items, rowHeight, keyOf, render, label, shownIndex, onPointer } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const tops = useMemo(() => topsOf(items, rowHeight), [items, rowHeight]);
  const topOf = (index: number): number => tops[index] ?? 0;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null || shownIndex === undefined || shownIndex < 0) return;
    const [top, bottom] = [topOf(shownIndex), topOf(shownIndex + 1)];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  }, [shownIndex]);
  const from = indexAt(tops, view.top - spare);
  const to = Math.min(items.length, indexAt(tops, view.top + view.height + spare) + 1);
  return (
    <div
      ref={box}
      class="virtual full grow"
      tabIndex={-1}
      onScroll={({ currentTarget }) => setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })}
      onPointerEnter={() => onPointer?.(true)}
      onPointerMove={() => onPointer?.(true)}
      onPointerLeave={() => onPointer?.(false)}
    >
      <div class="virtual-inside" role="list" aria-label={label} style={{ height: `${topOf(items.length)}px` }}>
        {items.slice(from, to).map((item, at) => {
          const index = from + at;
          const style = { height: `${topOf(index + 1) - topOf(index)}px`, transform: `translateY(${topOf(index)}px)` };
          return (
            <div key={keyOf(item)} class="virtual-row" role="listitem" aria-setsize={items.length} aria-posinset={index + 1} style={style}>
              {render(item, index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Ends with the end of all rows. */
function topsOf<Item>(items: readonly Item[], rowHeight: VirtualListProps<Item>['rowHeight']): readonly number[] {
  const tops = [0];
  for (const item of items) tops.push((tops.at(-1) ?? 0) + (typeof rowHeight === 'number' ? rowHeight : rowHeight(item)));
  return tops;
}

function indexAt(tops: readonly number[], height: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((tops[middle] ?? 0) <= height) low = middle;
    else high = middle - 1;
  }
  return low;
}
