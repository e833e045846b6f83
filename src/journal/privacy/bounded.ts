import { createContext, Script } from 'node:vm';

/** The text in the place of one that could not be cleaned. */
export const leftOut = '[left out]';

/** Milliseconds that the texts of one row may take together, or one text alone. */
const timeoutMs = 100;

/** Milliseconds of a minute that texts may take in vain. */
const wastedMs = 1_000;

/**
 * Runs a function on some texts, within bounds (durability §13.4). A text for which it throws, takes too long or gives no text is left
 * out. If too much of a minute is lost so, each further text is left out at once, until the minute has passed.
 *
 * @param tell hears why a text is left out. @param now monotonic milliseconds.
 */
export function bounded(
  clean: (text: string) => string,
  tell: (problem: string) => void,
  now: () => number = () => performance.now(),
): (texts: readonly string[]) => readonly string[] {
  let work = (): void => undefined;
  const script = new Script('work()');
  const context = createContext({ work: () => work() });
  let wasted = 0;
  let untilMs = 0;
  return (texts) => {
    const done: string[] = [];
    work = () => {
      while (done.length < texts.length) {
        const text: unknown = clean(texts[done.length] ?? '');
        if (typeof text !== 'string') throw new TypeError('it gives no text');
        done.push(text);
      }
    };
    while (done.length < texts.length) {
      const from = done.length;
      const fromMs = now();
      if (fromMs >= untilMs) [wasted, untilMs] = [0, fromMs + 60_000];
      if (wasted >= wastedMs) return [...done, ...texts.slice(from).map(() => leftOut)];
      try {
        script.runInContext(context, { timeout: timeoutMs }); // it ends a regular expression that runs away, too
      } catch (error) {
        const isLate = Object(error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
        if (isLate && done.length > from) continue; // the sum was too long: the next text has all of the time
        wasted += now() - fromMs;
        tell(isLate ? `it takes longer than ${timeoutMs} ms` : `it throws a ${typeof error}`);
        done.push(leftOut);
      }
    }
    return done;
  };
}
