import { kernelError, type SluiceError } from '../errors.js';
import { authorOf, nameOf } from '../outcome/entry.js';
import type { Author } from '../outcome/outcome.js';
import type { Stage } from '../stage/stage.js';
import { type HandlerClass, handlerClasses } from '../stage/vocabulary.js';
import { didYouMean, nearest } from '../value/nearest.js';

/** The options of grants. */
interface GrantsOptions {
  readonly stages: readonly Stage[];
  /**
   * Per extension id: `family:field` for trusted fields, `class:family` for what it may contribute, `provide:kind` for what
   * it may give the host, `dispatch:family` for what of the host's it may dispatch, `send:channel`, `schedule` and `inject`
   * for what it may have the host do, and `tap` for what it may watch.
   */
  readonly grants: Readonly<Record<string, readonly string[]>>;
  /** An extension without a grant for a class may only observe. */
  readonly leastPrivilege: boolean;
}

/** The right to contribute a class to the families of a pattern, or to something else of a pattern, such as a channel. */
interface VerbGrant {
  /** A class, `*` for every class, or another verb. */
  readonly verb: string;
  /** `*` if the verb takes none. */
  readonly pattern: string;
}

/**
 * The rights to contribute, and to set trusted fields (spec §12.5). Asked when something is contributed, never on
 * dispatch.
 */
export class Grants {
  readonly #stages: ReadonlyMap<string, Stage>;
  readonly #leastPrivilege: boolean;
  /** Each list on its own: two may grant the same, and one of them may be taken back. */
  readonly #held = new Map<string, Set<readonly string[]>>();

  constructor({ stages, grants, leastPrivilege }: GrantsOptions) {
    this.#stages = new Map(stages.map((stage) => [stage.family, stage]));
    this.#leastPrivilege = leastPrivilege;
    for (const [extensionId, given] of Object.entries(grants))
      this.#add(extensionId, given, `grants["${extensionId}"]`);
  }

  /** Gives an extension more, for what it contributes from now on. */
  add(extensionId: string, given: readonly string[]): Disposable {
    return this.#add(extensionId, given, `grant("${extensionId}")`);
  }

  /** The trusted fields of a stage that an extension may set. */
  fieldsOf(extensionId: string, stage: Stage): readonly string[] {
    if (stage.trusted.length === 0) return none;
    const held = this.#of(extensionId);
    return stage.trusted.filter((field) => held.includes(`${stage.family}:${field}`));
  }

  /** Returns whether an extension may contribute a class to a family. */
  allows(extensionId: string, name: HandlerClass, family: string): boolean {
    return this.#has(extensionId, { verb: name, pattern: family });
  }

  /** Returns whether an extension may do a thing that a grant names, such as `provide:channel` or `schedule`. */
  may(extensionId: string, grant: string): boolean {
    return hasGrant(this.#of(extensionId), grant, this.#leastPrivilege);
  }

  /** Returns whether an extension may dispatch a family of the host's, with or without least privilege. */
  mayDispatch(extensionId: string, family: string): boolean {
    return this.#has(extensionId, { verb: 'dispatch', pattern: family });
  }

  #has(extensionId: string, asked: VerbGrant): boolean {
    return hasVerb(this.#of(extensionId), asked, this.#leastPrivilege);
  }

  #of(extensionId: string): readonly string[] {
    return [...(this.#held.get(extensionId) ?? [])].flat();
  }

  #add(extensionId: string, given: readonly string[], option: string): Disposable {
    const problems = given.flatMap((grant) => this.#problem(grant) ?? []);
    if (problems.length > 0)
      throw kernelError('bad-option', { option, problem: problems.join(', and ') });
    const own = this.#held.get(extensionId) ?? new Set();
    const list = [...given];
    this.#held.set(extensionId, own.add(list));
    return {
      [Symbol.dispose]: () => {
        // the second time it holds nothing, and another may hold the same by then
        if (own.delete(list) && own.size === 0) this.#held.delete(extensionId);
      },
    };
  }

  #problem(grant: string): string | undefined {
    const verbGrant = verbGrantOf(grant);
    if (verbGrant !== undefined) return this.#verbProblem(grant, verbGrant);
    const [family = '', field = ''] = grant.split(':');
    const isWhole = grant === `${family}:${field}`;
    if (isWhole && this.#stages.get(family)?.trusted.includes(field) === true) return undefined;
    return `"${grant}" names no trusted field of a stage${didYouMean(grant, this.#near(family, field))}`;
  }

  #verbProblem(grant: string, given: VerbGrant): string | undefined {
    if (wholeVerbs.includes(given.verb)) return undefined;
    if (given.verb === 'provide')
      return /^(\*|[a-z][\w.-]*)$/.test(given.pattern) ? undefined : `"${grant}" names no kind`;
    if (given.verb === 'send')
      return /^(\*|[^\s*]+)$/.test(given.pattern) ? undefined : `"${grant}" names no channel`;
    const isDispatch = given.verb === 'dispatch';
    const fits = [...this.#stages.values()].some(({ family, classes }) =>
      isDispatch
        ? covers(given, 'dispatch', family)
        : classes.some((name) => covers(given, name, family)),
    );
    if (fits) return undefined;
    const what = isDispatch ? 'stage' : 'stage that allows the class';
    return `"${grant}" covers no ${what}${didYouMean(given.pattern, this.#patterns())}`;
  }

  /** The grants that one which names no field may have meant. */
  #near(verb: string, pattern: string): string[] {
    const fields = [...this.#stages.values()].flatMap(({ family, trusted }) =>
      trusted.map((field) => `${family}:${field}`),
    );
    const close = nearest(verb, verbs);
    return [...wholeVerbs, ...fields, ...(close === undefined ? [] : [`${close}:${pattern}`])];
  }

  /** The families, and the patterns of those with a common beginning. */
  #patterns(): Set<string> {
    const families = [...this.#stages.keys()];
    const prefixes = families.flatMap((family) => {
      const names = family.split('.');
      return names.slice(1).map((_, at) => `${names.slice(0, at + 1).join('.')}.*`);
    });
    return new Set([...families, ...prefixes]);
  }
}

/** The error of an author that lacks a grant. */
export function notGranted(author: Author, verb: string, family: string): SluiceError {
  const missing = `${verb}:${family}`;
  const who = { ...authorOf(author), whose: nameOf(author) };
  return kernelError('not-granted', { ...who, family, missing, asks: `"${missing}"` });
}

const none: readonly string[] = Object.freeze([]);

const verbs: readonly string[] = [...handlerClasses, '*', 'provide', 'dispatch', 'send'];

/** The verbs that take no pattern. */
const wholeVerbs: readonly string[] = ['schedule', 'inject', 'tap'];

/** The verbs that always need their grant, and that count for themselves alone. */
const guardedVerbs: readonly string[] = ['dispatch', 'tap'];

/** `veto:egress.*`, `provide:channel` or `schedule`, taken apart; nothing if a grant is of a trusted field. */
function verbGrantOf(grant: string): VerbGrant | undefined {
  if (wholeVerbs.includes(grant)) return { verb: grant, pattern: '*' };
  const [verb = '', ...rest] = grant.split(':');
  const isWhole = rest.length === 1 || (rest.length > 1 && verb === 'send'); // an id of a channel may have a colon
  return verbs.includes(verb) && isWhole ? { verb, pattern: rest.join(':') } : undefined;
}

/**
 * Returns whether an extension has what a grant names, by all that it is granted (spec §12.5). The kernel goes by the same rule.
 *
 * @param asked as a manifest writes it: `veto:egress.preparing`, or `agent.prompt.building:systemPrompt`.
 */
export function hasGrant(
  granted: readonly string[],
  asked: string,
  leastPrivilege: boolean,
): boolean {
  const verbGrant = verbGrantOf(asked);
  return verbGrant === undefined
    ? granted.includes(asked)
    : hasVerb(granted, verbGrant, leastPrivilege);
}

/**
 * Everybody may observe. An extension that is granted any class, kind or act is held to what it is granted; under least
 * privilege every extension is. A dispatch and a tap always need their grant.
 */
function hasVerb(granted: readonly string[], asked: VerbGrant, leastPrivilege: boolean): boolean {
  const { verb, pattern } = asked;
  if (verb === 'observer') return true;
  const isGuarded = guardedVerbs.includes(verb);
  const counted = granted
    .flatMap((grant) => verbGrantOf(grant) ?? [])
    .filter((one) => (isGuarded ? one.verb === verb : !guardedVerbs.includes(one.verb)));
  if (counted.length === 0) return !isGuarded && !leastPrivilege;
  return counted.some((one) => covers(one, verb, pattern));
}

/** Returns whether a grant covers a verb and a family: by its name, by a pattern such as `egress.*`, or by `*`. */
function covers(granted: VerbGrant, verb: string, family: string): boolean {
  const isAnyClass = granted.verb === '*' && handlerClasses.some((name) => name === verb);
  if (!isAnyClass && granted.verb !== verb) return false;
  const { pattern } = granted;
  if (pattern === '*' || pattern === family) return true;
  return pattern.endsWith('.*') && family.startsWith(pattern.slice(0, -1));
}
