// Works out which rows of a long list are in sight.
/** Every row is as high as every other, so that a place in the list is a multiplication. */
export const ROW_HEIGHT = 52;
const SPARE_ROWS = 8;

/** The rows that are built: those in sight and a few around them. */
interface RowWindow {
  readonly from: number;
  readonly to: number;
}

/** Which rows of a list are in sight. */
export function rowWindow(scrollTop: number, height: number, count: number): RowWindow {
  const first = Math.floor(scrollTop / ROW_HEIGHT) - SPARE_ROWS;
  const last = Math.ceil((scrollTop + height) / ROW_HEIGHT) + SPARE_ROWS;
  return { from: Math.max(0, Math.min(first, count)), to: Math.max(0, Math.min(last, count)) };
}

/** Where to scroll so that a row is in sight; where it is, if it is. */
export function scrollTopFor(index: number, scrollTop: number, height: number): number {
  const top = index * ROW_HEIGHT;
  if (top < scrollTop) return top;
  return top + ROW_HEIGHT > scrollTop + height ? top + ROW_HEIGHT - height : scrollTop;
}
