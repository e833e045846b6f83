import { isSluiceError, type Kernel } from '../../../src/kernel/internal.js';
import { createLegacyHookRunner, registerLegacyHook } from '../../../src/openclaw/index.js';
import type { MakeLegacyRunner } from '../../../src/openclaw/parity/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { itsWords } from '../model/failure.js';
import { type HookSet, untrustedPlugin } from './hook-set.js';
import { type Observation, observe, type Rejections } from './observe.js';

/** A handler's budget in the stages of modifying hooks. */
const budgetMs = 15_000;

/** Runs sets through the bridge, one after the other on one kernel. */
export class Pipeline {
  readonly #test = createTestKernel({ validate: 'borders', trace: false });
  readonly #rejections: Rejections;

  constructor(rejections: Rejections) {
    this.#rejections = rejections;
  }

  async observe(set: HookSet): Promise<Observation> {
    const { kernel, clock } = this.#test;
    const registered: Disposable[] = [];
    const unhang = async (): Promise<boolean> => {
      if (clock.pending === 0) return false;
      await clock.advance(budgetMs);
      return true;
    };
    try {
      const seen = await observe(set, makeRunner(kernel, registered), this.#rejections, unhang);
      return { ...seen, ...withoutItsWords(seen), inItsWords: seen };
    } finally {
      for (const one of registered) one[Symbol.dispose]();
    }
  }
}

/** Registers each handler; one whose priority is refused is left out, as a plugin loader does. */
function makeRunner(kernel: Kernel, registered: Disposable[]): MakeLegacyRunner {
  return ({ typedHooks }, options) => {
    for (const hook of typedHooks) {
      const trusted = hook.pluginId !== untrustedPlugin;
      try {
        registered.push(registerLegacyHook(kernel, hook as never, { trusted }));
      } catch (error) {
        if (!isSluiceError(error) || !error.message.includes('priority')) throw error;
      }
    }
    return createLegacyHookRunner(kernel, options);
  };
}

/** How a stage says that it refused an output, or that it cut a handler. */
const said =
  /( failed: )(?:its (?:patch was|annotations were) refused|an? (?:mutator|veto|augmenter|resolver) returns|it took longer than|.*may be set only by).*$/s;

/** The same run, but that what a stage says in its own words is left out. */
export function withoutItsWords({ log, order, ending }: Observation): Partial<Observation> {
  const plain = (text: string): string => text.replace(said, `$1${itsWords}`);
  return {
    log: log.map((line) => ({ ...line, text: plain(line.text) })),
    order: order.map(plain),
    ending: ending.kind === 'threw' ? { ...ending, message: plain(ending.message) } : ending,
  };
}
