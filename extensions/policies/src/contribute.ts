import type { ExtensionApi } from 'sluice';
import { PolicyError, problemText } from './problem.js';
import { type Policies, type PolicyText, policiesOf, readPolicies } from './read-policies.js';

/** The rules that were loaded last, and by which process: another process reads the files alone. */
interface LastGood {
  readonly process: number;
  readonly texts: readonly PolicyText[];
}

/**
 * Contributes the rules of policy files to an extension, a veto each, named by its id. In setup only. With `sluice run --watch` the
 * extension is reloaded when a file changes. A file that does not load at a reload leaves the rules before; at the start it is refused.
 *
 * @param named the files, as the config of the extension names them.
 * @throws PolicyError with each problem, its file and its line.
 */
export async function contributePolicies(
  api: ExtensionApi,
  named: readonly string[],
): Promise<Policies> {
  const files = named.map(api.resolvePath);
  for (const file of files) api.reloadOn(file);
  const policies = await loaded();
  const { rules, texts } = policies;
  await api.store.set('last-good', { process: performance.timeOrigin, texts } satisfies LastGood);
  for (const { id, family, options, handler } of rules) api.veto(family, id, options, handler);
  api.log.info('policies are loaded', { rules: rules.length, files: files.length });
  return policies;

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
}
