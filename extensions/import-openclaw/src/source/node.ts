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

/** The words in which names of secrets end, and maybe an "s". */
const secretWords =
  'token|secret|pass(?:word|phrase|wd)?|pwd|key|credential|auth(?:orization)?|bearer|cookie|mnemonic|dsn|service_?account';
const secretKey = new RegExp(`(?:${secretWords})s?$`, 'i');
/** A number is a secret under one of them alone: `maxTokens` is none. */
const secretNumber = /(token|secret|pass(word|phrase|wd)?|pwd|pin)$/i;
/** Variables of the environment with such a word in them are secrets. */
const secretName = new RegExp(secretWords, 'i');
/** A variable of the environment in a text. */
const variableIn = /\$?\$\{([A-Z_][A-Z\d_]*)\}/g;
/** Texts that are secrets by their looks: keys and tokens of well-known services, and addresses with a password or a key. */
const secretText = new RegExp(
  [
    /\b(sk-[\w-]{16,}|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,})/,
    /\b(AIza[\w-]{20,}|AKIA[A-Z\d]{12,}|gsk_\w{16,}|xai-\w{16,}|hf_\w{16,}|\d{6,}:[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,})/,
    /:\/\/[^/\s:@]*:[^/\s@]+@|[?&][\w-]*(key|token|secret|sig|signature|password)=[^&\s]/,
    /hooks\.slack\.com\/\w|discord(app)?\.com\/api\/webhooks\/|\bBearer\s+\S{8,}|-----BEGIN /,
  ]
    .map(({ source }) => source)
    .join('|'),
);

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
    const filled = written.replace(variableIn, (whole, name: string) => {
      if (whole.startsWith('$$')) return whole.slice(1);
      const found = secretName.test(name) ? undefined : this.reading.env[name];
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
    if (!isRecord(value) && !['string', 'number'].includes(typeof value)) return undefined;
    if (value === '') return undefined;
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

  /** The value as it is, for a plugin: each secret in it is a reference, and so is a text that names the environment. */
  verbatim(isBelowSecret = false): unknown {
    const { value } = this;
    const key = String(this.path.at(-1));
    const isNamed = typeof value === 'number' ? secretNumber : secretKey;
    const isSecret = isBelowSecret || isNamed.test(key);
    if (Array.isArray(value)) return this.items().map((one) => one.verbatim(isSecret));
    if (isSecretRef(value)) return this.secret();
    if (isRecord(value)) {
      const isAll = isSecret || key === 'headers' || key === 'env';
      return Object.fromEntries(this.entries().map(([at, one]) => [at, one.verbatim(isAll)]));
    }
    if (typeof value !== 'string' && typeof value !== 'number') return value;
    if (isSecret) return this.secret() ?? value;
    if (typeof value === 'number') return value;
    const named = [...value.matchAll(variableIn)].some(([whole]) => !whole.startsWith('$$'));
    return named || secretText.test(value) ? this.secret() : this.text();
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
