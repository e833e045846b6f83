type Step = () => Promise<unknown> | undefined;

/** Takes steps one after the other, each when the one before has ended. Returns nothing if none has to be waited for. */
export function inOrder(...steps: readonly Step[]): Promise<void> | undefined {
  for (let at = 0; at < steps.length; ) {
    const waiting = steps[at++]?.();
    if (waiting !== undefined) return waiting.then(() => inOrder(...steps.slice(at)));
  }
  return undefined;
}
