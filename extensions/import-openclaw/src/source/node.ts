/** The keys that lead to a place in a config. */
export type Path = readonly (string | number)[];

/** A reference to a secret, as a config of Sluice has it. */
export interface SecretRef {
  readonly env: string;
}

/** Writes a path as people do: `channels.telegram.groups.-1001.topics.99`, `a["b.c"][0]`. */
export function pathText(path: Path): string {
  return path
    .map((key, at) => {
      if (typeof key === 'number') return `[${key}]`;
      if (!/^[\w$*@/#-]+$/.test(key)) return `[${JSON.stringify(key)}]`;
      return at === 0 ? key : `.${key}`;
    })
    .join('');
}

/** Returns whether a value is an object with keys. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** The name of a variable for the secret of a path: `channels.telegram.botToken` is `TELEGRAM_BOT_TOKEN`. */
function variableOf(path: Path): string {
  const from = ['channels', 'env', 'messages'].includes(String(path[0])) ? 1 : 0;
  const words = path.slice(path[from] === 'vars' ? from + 1 : from).map(String);
  const name = words
    .flatMap((word) => word.replace(/([a-z\d])([A-Z])/g, '$1_$2').split(/[^A-Za-z\d]+/))
    .filter((word) => word !== '')
    .join('_')
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `SECRET_${name}`;
}

const secretKey =
  /(token|secret|password|passphrase|api[_-]?key|credentials?|private[_-]?key|authorization|cookie)$/i;
/** Texts that are secrets by their looks: keys and tokens of well-known services, and addresses with a password. */
const secretText =
  /\b(sk-[\w-]{16,}|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|gh[opsu]_\w{16,}|AIza[\w-]{20,}|\d{6,}:[\w-]{30,})|:\/\/[^/\s:@]*:[^/\s@]+@/;

/** The things that reading a config needs to know, and what it tells. */
export interface Reading {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told of each secret, which is not written. */
  readonly onSecret: (path: Path, variable: string) => void;
  /** Told of a value that cannot be read. */
  readonly onUnread: (path: Path, why: string) => void;
  /** The variables that were given to secrets, with the paths that have them. */
  readonly variables: Map<string, string>;
}

/**
 * A place in the config of OpenClaw, which may be empty. A value of another type than the one that is asked for is no value, and is told.
 *
 * @example
 * root.get('channels').get('telegram').get('dmPolicy').text(); // 'pairing'
 */
export class Node {
  readonly value: unknown;
  readonly path: Path;
  readonly reading: Reading;

  constructor(value: unknown, path: Path, reading: Reading) {
    this.value = value;
    this.path = path;
    this.reading = reading;
  }

  get isThere(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  get(...keys: readonly string[]): Node {
    return keys.reduce<Node>((node, key) => {
      const has = isRecord(node.value) && Object.hasOwn(node.value, key);
      return new Node(
        has ? (node.value as Record<string, unknown>)[key] : undefined,
        [...node.path, key],
        this.reading,
      ); // a record: asked above
    }, this);
  }

  entries(): readonly (readonly [string, Node])[] {
    return Object.keys(this.#as('object', isRecord) ?? {}).map((key) => [key, this.get(key)]);
  }

  items(): readonly Node[] {
    return (this.#as('list', isList) ?? []).map(
      (one, at) => new Node(one, [...this.path, at], this.reading),
    );
  }

  flag(): boolean | undefined {
    return this.#as('flag', (value) => typeof value === 'boolean');
  }

  number(): number | undefined {
    return this.#as('number', (value) => typeof value === 'number');
  }

  /** A text, with the variables of the environment that it names. A text that is a secret is none. */
  text(): string | undefined {
    const written = this.#as('text', (value) => typeof value === 'string');
    if (written === undefined) return undefined;
    let missing: string | undefined;
    const filled = written.replace(/\$?\$\{([A-Z_][A-Z\d_]*)\}/g, (whole, name: string) => {
      if (whole.startsWith('$$')) return whole.slice(1);
      const found = secretKey.test(name) ? undefined : this.reading.env[name];
      if (found === undefined) missing = name;
      return found ?? whole;
    });
    if (missing === undefined && !secretText.test(filled)) return filled;
    this.reading.onUnread(
      this.path,
      missing === undefined
        ? 'it holds a secret'
        : `the environment has no ${missing}, or that is a secret`,
    );
    return undefined;
  }

  /** The texts and numbers of a list, as texts. */
  texts(): readonly string[] {
    return this.items().flatMap((one) =>
      typeof one.value === 'number' ? [String(one.value)] : (one.text() ?? []),
    );
  }

  /** The reference to a secret. Its value is in the environment already, or is to be put there by the operator. */
  secret(): SecretRef | undefined {
    const { value, path } = this;
    if (!isRecord(value) && (typeof value !== 'string' || value === '')) return undefined;
    const named =
      isRecord(value) && value['source'] === 'env'
        ? value['id']
        : /^\$\{([A-Z][A-Z\d_]*)\}$/.exec(String(value))?.[1];
    if (typeof named === 'string' && /^[A-Z][A-Z\d_]*$/.test(named)) return { env: named };
    const { variables } = this.reading;
    const place = pathText(path);
    let variable = variableOf(path);
    while ((variables.get(variable) ?? place) !== place) variable += '_2';
    variables.set(variable, place);
    this.reading.onSecret(path, variable);
    return { env: variable };
  }

  /** The value if it has a type; one of another type could be a restriction, and is told. */
  #as<Value>(type: string, isOne: (value: unknown) => value is Value): Value | undefined {
    if (isOne(this.value)) return this.value;
    if (this.isThere) this.reading.onUnread(this.path, `it is no ${type}`);
    return undefined;
  }

  /** The value as it is, for a plugin: each secret in it is a reference. */
  verbatim(): unknown {
    const { value } = this;
    if (Array.isArray(value)) return this.items().map((one) => one.verbatim());
    if (isSecretRef(value)) return this.secret();
    if (isRecord(value))
      return Object.fromEntries(this.entries().map(([key, one]) => [key, one.verbatim()]));
    if (typeof value !== 'string' || value === '') return value;
    const inHeaders = this.path.at(-2) === 'headers' || this.path.at(-2) === 'env';
    const isWhole = /^\$\{[A-Z][A-Z\d_]*\}$/.test(value);
    if (
      inHeaders ||
      isWhole ||
      secretKey.test(String(this.path.findLast((key) => typeof key === 'string'))) ||
      secretText.test(value)
    )
      return this.secret();
    return this.text();
  }
}

/** Returns whether a value is a reference to a secret of OpenClaw. */
export function isSecretRef(value: unknown): boolean {
  return (
    isRecord(value) &&
    ['env', 'file', 'exec'].includes(String(value['source'])) &&
    typeof value['id'] === 'string'
  );
}
