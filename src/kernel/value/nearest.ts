/**
 * The name closest to a misspelt one, or nothing if none is close.
 *
 * @example
 * nearest('egress.sendng', ['egress.sending', 'egress.sent']); // 'egress.sending'
 */
export function nearest(name: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** The end of a problem that names the closest name: `; did you mean "sent"?`, or nothing where none is close. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const close = nearest(name, names);
  return close === undefined ? '' : `; did you mean "${close}"?`;
}

/** A hint that names the closest name: `Did you mean "sent"?`, or says something else where none is close. */
export function nearestHint(name: string, names: Iterable<string>, otherwise: string): string {
  const close = nearest(name, names);
  return close === undefined ? otherwise : `Did you mean "${close}"?`;
}

function editDistance(from: string, to: string): number {
  if (from.length > 200) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const current = [i];
    for (let j = 1; j <= to.length; j++) {
      const swap = (previous[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      current.push(Math.min(swap, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
