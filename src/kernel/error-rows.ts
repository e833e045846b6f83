/** A row of the error table: the meaning of a code, its cause and its cure (spec/errors.md shows them all). */
export interface ErrorRow {
  /** The event in words; `{name}` is filled in from the details. */
  readonly message: string;
  /** The likely cause. */
  readonly cause: string;
  /** The advice to the reader. */
  readonly hint: string;
}

/** The kernel's own rows. Each layer has its own in its `errors.ts`. Adding a code is adding a row there. */
export const kernelErrors = {
  'bad-stage': {
    message: 'Stage "{family}" is not well formed: {problem}.',
    cause: 'A column of the row that was given to defineStage contradicts another.',
    hint: 'Fix the row. The columns are described at StageSpec.',
  },
  'duplicate-family': {
    message: 'Family "{family}" is defined twice.',
    cause: 'Two rows of the stages given to createKernel have the same family.',
    hint: 'Give your own stage a family of its own, such as "acme.{family}".',
  },
  'unknown-family': {
    message: '{whose}there is no family "{family}".{nearest}',
    cause: 'A misspelt family, or a custom stage that was not given to createKernel.',
    hint: 'Use a name from `sluice stages`, or give your stage to createKernel.',
  },
  'class-not-allowed': {
    message:
      '{extensionId}/{contributionId}: stage "{family}" does not allow the class "{class}"; it allows {allowed}.',
    cause: 'The stage has no way to use what this class returns.',
    hint: 'Stages that allow a {class}: {stages}.',
  },
  'bad-contribution': {
    message: '{extensionId}/{contributionId} on "{family}": {problem}.',
    cause: 'A field of the contribution is missing or has a wrong value.',
    hint: 'Fix the field. The fields are described at Contribution.',
  },
  'bad-match': {
    message: '{extensionId}/{contributionId} on "{family}": {problem}.',
    cause:
      'A match is decided before the first handler is called: it names scalars that no patch of the stage can write, and refs of the envelope.',
    hint: 'Judge anything else in the handler. A match on this stage may name: {fields}.',
  },
  'duplicate-contribution': {
    message:
      'Extension "{extensionId}" has contributed "{contributionId}" already, to "{existing}".',
    cause: 'The extension was loaded twice, or two contributions share an id.',
    hint: 'Give each contribution an id of its own, or dispose the first before.',
  },
  'async-handler': {
    message:
      '{extensionId}/{contributionId}: "{family}" is sync-sequential and cannot take an async handler.',
    cause: 'The handler is an async function, and this stage runs in the caller’s stack.',
    hint: 'Return the result directly. Do the asynchronous part in an earlier stage, such as agent.tool.called.',
  },
  'not-granted': {
    message: '{whose} is not granted {missing}.{requested}',
    cause:
      'The operator says what this extension may do, or least privilege is on and nothing was said of it.',
    hint: 'Grant it in the config, if you trust it that far: "grants": { "{extensionId}": [{asks}] }.',
  },
  'too-many-handlers': {
    message: '"{family}" has {count} handlers already; {extensionId}/{contributionId} is refused.',
    cause: 'Something registers in a loop, or never disposes what it registered.',
    hint: 'Dispose contributions that are no longer used, or raise limits.refuseAt.',
  },
  'wrong-mode': {
    message: '"{family}" is {mode}: use {use}.',
    cause: 'dispatchSync takes sync-sequential families only, and dispatch takes the others.',
    hint: 'Call {use}("{family}", payload) instead.',
  },
  'bad-payload': {
    message: 'The payload of "{family}" is wrong at {path}: {problem}.',
    cause: 'The value comes from outside and does not have the shape that the family declares.',
    hint: 'Send the shape in spec/schemas/{family}.payload.json.',
  },
  'unfreezable-payload': {
    message: 'The payload of "{family}" cannot be frozen at {path}: {problem}.',
    cause: 'A payload is plain data: objects, arrays, strings, numbers, booleans, bigints, null.',
    hint: 'Send plain data there (a date as milliseconds, a map as an object, bytes as base64), or mark the field shared in the stage.',
  },
  'bad-given': {
    message: 'The given "{field}" of a dispatch to "{family}" is wrong: {problem}.',
    cause: 'The third argument of dispatch carries the envelope’s refs and the dispatch’s options.',
    hint: 'Fix the field. The fields are described at Given.',
  },
  'call-inactive': {
    message: '{extensionId}/{contributionId}: own.dispatch was used after its stage had ended.',
    cause: 'A handler went on after it timed out, was aborted, or had returned.',
    hint: 'Dispatch before the handler settles, and stop when call.signal aborts.',
  },
  'audited-dispatch': {
    message:
      '{extensionId}/{contributionId}: own.dispatch is refused, since the handler is in audit mode.',
    cause:
      'The operator has this handler called without effect, and a dispatch has effects on others.',
    hint: 'With "mode": "enforce" in its override it may dispatch again.',
  },
  'foreign-call': {
    message: '{extensionId}/{contributionId}: own.dispatch was given a call that is not its own.',
    cause: 'The first argument must be the call object that this handler was called with.',
    hint: 'Pass it on as it came: own.dispatch(call, family, payload).',
  },
  'kernel-closed': {
    message: 'The kernel is closed; "{family}" was not dispatched.',
    cause: 'close() was called before.',
    hint: 'Dispatch before close(), or create a kernel anew.',
  },
  'bad-option': {
    message: 'Option "{option}" is wrong: {problem}.',
    cause: 'An option of createKernel, or of a function that takes its kernel, has a wrong value.',
    hint: 'Fix the option. KernelOptions and spec/config.md describe them.',
  },
} as const satisfies Record<string, ErrorRow>;

/** The rows as a type. */
export type KernelErrors = typeof kernelErrors;
