import { allow, cancel, type Kernel, select } from '../../src/kernel/internal.js';

/** Milliseconds that a handler which hangs has. */
const hangTimeoutMs = 30;

/**
 * Contributes handlers that fail, are slow, hang, settle late, cancel and change: at the places where a host depends on them.
 * What goes wrong goes wrong often enough to be seen in a minute, and seldom enough for most messages to be answered.
 */
export function contributeSoakHandlers(kernel: Kernel, random: () => number): void {
  const one = (chance: number): boolean => random() < chance;
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const never = new Promise<never>(() => undefined);
  const of = (extensionId: string) => ({ extensionId }) as const;
  kernel.contribute({
    ...of('failing'),
    family: 'ingress.normalized',
    class: 'observer',
    id: 'throws',
    handler: () => {
      if (one(0.1)) throw new Error('it fails');
    },
  });
  kernel.contribute({
    ...of('failing'),
    family: 'egress.sent',
    class: 'observer',
    id: 'rejects',
    detached: true,
    handler: async () => {
      await pause(2);
      if (one(0.1)) throw new TypeError('it fails later');
    },
  });
  kernel.contribute({
    ...of('failing'),
    family: 'egress.preparing',
    class: 'mutator',
    id: 'wrong-patch',
    priority: 5,
    handler: () => (one(0.05) ? ({ contnt: 'x' } as object) : undefined),
  });
  kernel.contribute({
    ...of('hanging'),
    family: 'ingress.normalized',
    class: 'augmenter',
    id: 'hangs',
    timeoutMs: hangTimeoutMs,
    handler: () => (one(0.01) ? never : undefined),
  });
  kernel.contribute({
    ...of('hanging'),
    family: 'agent.starting',
    class: 'augmenter',
    id: 'late',
    timeoutMs: hangTimeoutMs,
    handler: async () => {
      if (!one(0.01)) return undefined;
      await pause(hangTimeoutMs * 3);
      throw new Error('it fails when nobody waits any more');
    },
  });
  kernel.contribute({
    ...of('slow'),
    family: 'routing.resolving',
    class: 'resolver',
    id: 'thinks',
    handler: async () => {
      await pause(3 * random());
      return select({ agentId: one(0.5) ? 'main' : 'slow' });
    },
  });
  kernel.contribute({
    ...of('slow'),
    family: 'egress.preparing',
    class: 'mutator',
    id: 'signs',
    handler: async ({ payload }) => {
      await pause(2 * random());
      return { content: `${payload.content} (signed)` };
    },
  });
  kernel.contribute({
    ...of('guard'),
    family: 'egress.preparing',
    class: 'veto',
    id: 'cancels',
    handler: () => (one(0.03) ? cancel('policy') : allow()),
  });
  kernel.contribute({
    ...of('guard'),
    family: 'egress.preparing',
    class: 'veto',
    id: 'closed',
    failClosed: true,
    timeoutMs: hangTimeoutMs,
    handler: () => {
      if (one(0.01)) throw new Error('it cannot judge');
      return one(0.003) ? never : allow();
    },
  });
  kernel.contribute({
    ...of('guard'),
    family: 'routing.resolving',
    class: 'veto',
    id: 'blocks',
    handler: () => (one(0.02) ? cancel('blocked') : undefined),
  });
}
