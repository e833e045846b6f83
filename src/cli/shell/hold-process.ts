/** The longest that a timer of the platform waits, in milliseconds. */
const longestMs = 2 ** 31 - 1;

/**
 * Keeps this process alive until it is disposed: Node.js ends a process, with exit code 13, when it waits for a promise and no
 * socket, timer or file of it is open.
 *
 * @example
 * using _held = holdProcess();
 */
export function holdProcess(): Disposable {
  const timer = setInterval(() => undefined, longestMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
