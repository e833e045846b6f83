type Params = Readonly<Record<string, unknown>>;

interface ParamOptions {
  readonly required?: boolean;
  /** The name of the parameter in an error; its key by default. */
  readonly label?: string;
}

/** Gives what was read of a parameter; a required one that gives nothing is an error. */
function orRequired<T>(value: T | undefined, key: string, options: ParamOptions): T | undefined {
  if (value === undefined && options.required === true)
    throw new Error(`${options.label ?? key} required`);
  return value;
}

/** `readStringParam`: a text of a tool's parameters, without blanks at its ends. */
export function readText(
  params: Params,
  key: string,
  options: ParamOptions & { readonly trim?: boolean; readonly allowEmpty?: boolean } = {},
): string | undefined {
  const given = params[key];
  const text =
    typeof given === 'string' ? (options.trim === false ? given : given.trim()) : undefined;
  const isNothing = text === '' && options.allowEmpty !== true;
  return orRequired(isNothing ? undefined : text, key, options);
}

/** `readNumberParam`: a number, also one that is written as a text. */
export function readNumber(
  params: Params,
  key: string,
  options: ParamOptions & { readonly integer?: boolean } = {},
): number | undefined {
  const given = params[key];
  const value = typeof given === 'string' ? Number.parseFloat(given) : given;
  const number = typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  const read = orRequired(number, key, options);
  return read !== undefined && options.integer === true ? Math.trunc(read) : read;
}

/** `readStringArrayParam`: the texts of a list, or a text alone as a list of one. */
export function readTexts(
  params: Params,
  key: string,
  options: ParamOptions = {},
): string[] | undefined {
  const given = params[key];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const texts = list
    .filter((one) => typeof one === 'string')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return orRequired(texts.length === 0 ? undefined : texts, key, options);
}
