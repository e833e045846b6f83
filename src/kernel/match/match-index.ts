import type { Entry } from '../outcome/entry.js';
import type { Upstream } from '../outcome/envelope.js';
import type { Given } from '../outcome/given.js';
import type { MatchField } from '../outcome/matching.js';
import { meets } from './conditions.js';

/** The references that the plans of one index may hold together: plans of many handlers are kept in smaller number. */
const heldAtMost = 200_000;

/** A step on the way to a plan: by the class of a field's value, the next step; at the last field, the plan. */
type Branch<P> = Map<number, Branch<P> | P>;

/** The classes of the values of one field. Values of one class meet the same conditions of all handlers. */
interface Classes {
  readonly field: MatchField;
  /** Its name, if it is a field of the payload itself. */
  readonly name: string | undefined;
  readonly byValue: ReadonlyMap<unknown, number>;
  readonly byPrefix: ReadonlyMap<string, number>;
  /** The lengths of the prefixes, longest first: the longest prefix that fits tells which others do. */
  readonly lengths: readonly number[];
  /** Classes of lists, by the classes of their items. */
  readonly ofLists: Map<string, number>;
}

const unknownClass = 0;
const otherClass = 1;

/**
 * Finds the part of a plan whose handlers match a dispatch (judgement §2.5). What it keeps depends on the conditions, and not on the
 * values that come by: a value is looked up, and never kept.
 */
export class MatchIndex<P extends { readonly size: number }> {
  readonly #entries: readonly Entry[];
  readonly #make: (matching: readonly Entry[], others: readonly Entry[]) => P;
  readonly #classes: readonly Classes[];
  #root: Branch<P> = new Map();
  #held = 0;
  /** It asks for refs or ids, which the dispatch has beside its payload. */
  readonly readsOrigin: boolean;

  constructor(
    entries: readonly Entry[],
    make: (matching: readonly Entry[], others: readonly Entry[]) => P,
  ) {
    this.#entries = entries;
    this.#make = make;
    this.#classes = classesOf(entries);
    this.readsOrigin = this.#classes.some(({ field }) => field.from === 'origin');
  }

  /** How many plans it keeps, and the classes of lists among its values: both are bounded. */
  get kept(): { readonly references: number; readonly lists: number } {
    const lists = this.#classes.reduce((sum, { ofLists }) => sum + ofLists.size, 0);
    return { references: this.#held, lists };
  }

  /** The plan of the handlers that match. The same object for dispatches whose values are of the same classes. */
  planFor(payload: object, given: Given | undefined, upstream: Upstream | undefined): P {
    const classes = this.#classes;
    let at: Branch<P> | P | undefined = this.#root;
    try {
      for (let i = 0; i < classes.length && at instanceof Map; i++) {
        const one = classes[i] as Classes;
        const { name } = one;
        const value =
          name === undefined
            ? valueAt(one.field, payload, given, upstream)
            : (payload as Fields)[name];
        at = at.get(classOf(one, value));
      }
    } catch {
      at = undefined; // an emitter's payload that cannot be read
    }
    return at === undefined || at instanceof Map ? this.#add(payload, given, upstream) : at;
  }

  #add(payload: object, given: Given | undefined, upstream: Upstream | undefined): P {
    if (this.#held > heldAtMost) this.#empty();
    // read once: a value that changes under the eyes of its reader cannot bring a plan into another's place
    const values = new Map(
      this.#classes.map(({ field }) => [field.key, valueAt(field, payload, given, upstream)]),
    );
    const matches = ({ traits }: Entry): boolean =>
      traits.conditions.every((one) =>
        meets(one, values.get(one.field.key), traits.unknownMatches),
      );
    const matching = this.#entries.filter(matches);
    const others = this.#entries.filter((entry) => !matches(entry));
    const plan = this.#make(matching, others);
    this.#held += matching.length * 4 + others.length + 16; // the lists of the plan, and the plan
    let branch = this.#root;
    this.#classes.forEach((one, i) => {
      const key = classOf(one, values.get(one.field.key));
      if (i === this.#classes.length - 1) {
        branch.set(key, plan);
        return;
      }
      const next = branch.get(key);
      const known: Branch<P> = next instanceof Map ? next : new Map();
      branch.set(key, known);
      branch = known;
    });
    return plan;
  }

  #empty(): void {
    this.#root = new Map();
    this.#held = 0;
    for (const { ofLists } of this.#classes) ofLists.clear();
  }
}

function classesOf(entries: readonly Entry[]): Classes[] {
  const conditions = entries.flatMap(({ traits }) => traits.conditions);
  const keys = new Map(conditions.map(({ field }) => [field.key, field]));
  return [...keys].map(([key, field]) => {
    const own = conditions.filter((one) => one.field.key === key);
    const values = new Set(own.flatMap((one) => [...one.values]));
    const prefixes = new Set(own.flatMap((one) => one.prefixes));
    const first = otherClass + 1;
    return {
      field,
      name: field.from === 'payload' && field.path.length === 1 ? key : undefined,
      byValue: new Map([...values].map((value, i) => [value, first + i])),
      byPrefix: new Map([...prefixes].map((prefix, i) => [prefix, first + values.size + i])),
      lengths: [...new Set([...prefixes].map(({ length }) => length))].sort((a, b) => b - a),
      ofLists: new Map(),
    };
  });
}

function classOf(classes: Classes, value: unknown): number {
  switch (typeof value) {
    case 'string':
      return classes.byValue.get(value) ?? prefixClass(classes, value);
    case 'number':
    case 'boolean':
      return classes.byValue.get(value) ?? otherClass;
    default:
      return classes.field.isList && Array.isArray(value)
        ? listClass(classes, value)
        : unknownClass;
  }
}

function prefixClass({ byPrefix, lengths }: Classes, value: string): number {
  for (const length of lengths) {
    const known = length > value.length ? undefined : byPrefix.get(value.slice(0, length));
    if (known !== undefined) return known;
  }
  return otherClass;
}

/** A list meets a condition if one of its items does: its class is the set of theirs. */
function listClass(classes: Classes, list: readonly unknown[]): number {
  const items = new Set(
    list.map((item) => (Array.isArray(item) ? unknownClass : classOf(classes, item))),
  );
  const key = [...items].sort((a, b) => a - b).join();
  const known = classes.ofLists.get(key);
  if (known !== undefined) return known;
  const made = -1 - classes.ofLists.size;
  classes.ofLists.set(key, made);
  return made;
}

/** The value of a field in a dispatch; nothing if it is not there, or cannot be read. */
function valueAt(
  { from, path }: MatchField,
  payload: object,
  given: Given | undefined,
  upstream: Upstream | undefined,
): unknown {
  let at: unknown = payload;
  try {
    for (let i = 0; i < path.length; i++) {
      const name = path[i] as string;
      if (i === 0 && from === 'origin') {
        const own = (given as Fields | undefined)?.[name];
        at = own === undefined ? (upstream as Fields | undefined)?.[name] : own;
      } else if (typeof at !== 'object' || at === null) return undefined;
      else at = (at as Fields)[name];
    }
    return at;
  } catch {
    return undefined; // an emitter's payload that cannot be read
  }
}

type Fields = Readonly<Record<string, unknown>>;
