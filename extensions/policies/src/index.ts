import { defineExtension } from 'sluice';
import { z } from 'zod';
import { PolicyError, problemText } from './problem.js';
import { type Policies, type PolicyText, policiesOf, readPolicies } from './read-policies.js';

export { PolicyError, type Problem, problemText } from './problem.js';
export { type Policies, type PolicyText, policiesOf, readPolicies } from './read-policies.js';
export type { Rule } from './rule.js';
export type { Verdict } from './rule-schema.js';

const config = z.strictObject({ policies: z.array(z.string().min(1)).min(1) });

/** The rules that were loaded last, and by which process: another process reads the files alone. */
interface LastGood {
  readonly process: number;
  readonly texts: readonly PolicyText[];
}

/** Turns rules of YAML files into vetoes, one each, named `policy/<id>`. The README has the settings. */
export default defineExtension({
  id: 'policy',
  manifest: { version: '0.2.0', sluice: '~0.2.0' },
  config,
  async setup(api, { policies: named }) {
    const files = named.map(api.resolvePath);
    for (const file of files) api.reloadOn(file);
    const { rules, texts } = await loaded();
    await api.store.set('last-good', { process: performance.timeOrigin, texts } satisfies LastGood);
    for (const { id, family, options, handler } of rules) api.veto(family, id, options, handler);
    api.log.info('policies are loaded', { rules: rules.length, files: files.length });

    /** A file that does not load at a reload leaves the rules before. At the start it is refused. */
    async function loaded(): Promise<Policies> {
      try {
        return await readPolicies(files);
      } catch (thrown) {
        if (!(thrown instanceof PolicyError)) throw thrown;
        const before = await api.store.get<LastGood>('last-good');
        const isOfThese = files.every((file, at) => before?.texts[at]?.file === file);
        if (before?.process !== performance.timeOrigin || !isOfThese) throw thrown;
        for (const problem of thrown.problems)
          api.log.error('a policy cannot be loaded; the rules before it go on', {
            problem: problemText(problem),
          });
        return policiesOf(before.texts);
      }
    }
  },
});
