/** What a handler of a hook is called with. */
export interface Heard {
  readonly hook: 'message_received' | 'message_sending' | 'message_sent';
  readonly event: unknown;
  readonly ctx: unknown;
}

/** A field that differs, by its path from `event` or `ctx` on. */
export interface FieldDifference {
  readonly hook: Heard['hook'];
  readonly path: string;
  readonly real: unknown;
  readonly ours: unknown;
}

/** Where two calls differ. A field that is `undefined` is one that is not there. */
export function differencesOf(real: Heard, ours: Heard): FieldDifference[] {
  const found: FieldDifference[] = [];
  const walk = (a: unknown, b: unknown, path: string): void => {
    if (isRecord(a) && isRecord(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
        walk(a[key], b[key], `${path}.${key}`);
      return;
    }
    if (JSON.stringify(a) !== JSON.stringify(b))
      found.push({ hook: real.hook, path, real: a, ours: b });
  };
  walk(real.event, ours.event, 'event');
  walk(real.ctx, ours.ctx, 'ctx');
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
