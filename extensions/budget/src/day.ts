/** Names the day of a time zone in which a moment lies, such as `2026-03-15`. @param timeZone one that `Intl` knows. */
export function dayIn(timeZone: string): (atMs: number) => string {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
    return (['year', 'month', 'day'] as const).map((type) => parts.get(type)).join('-');
  };
}
