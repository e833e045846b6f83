/** The kinds of mistakes that end an import. */
export type ImportErrorCode =
  | 'missing-file'
  | 'unreadable-file'
  | 'file-exists'
  | 'bad-arguments'
  | 'bad-config';

/** An import that cannot go on. Nothing was written. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  readonly code: ImportErrorCode;
  /** The cure. */
  readonly hint: string;

  constructor(code: ImportErrorCode, what: string, hint: string) {
    super(what);
    this.code = code;
    this.hint = hint;
  }
}
