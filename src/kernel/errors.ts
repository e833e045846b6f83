/** What an error code means, why it comes, and what to do (spec/errors.md is made from this table). */
interface ErrorEntry {
  /** What happened; `{name}` is filled in from the details. */
  readonly message: string;
  /** The likely cause. */
  readonly cause: string;
  /** What to do. */
  readonly hint: string;
}

/** The one table of error codes. Adding a code is adding a row. */
export const errorTable = {
  'bad-stage': {
    message: 'Stage "{family}" is not well formed: {problem}.',
    cause: 'A column of the row that was given to defineStage contradicts another.',
    hint: 'Mend the row. The columns are described at StageSpec.',
  },
  'duplicate-family': {
    message: 'Family "{family}" is defined twice.',
    cause: 'Two rows of the stages given to createKernel have the same family.',
    hint: 'Give your own stage a family of its own, such as "acme.{family}".',
  },
  'unknown-family': {
    message: '{whose}there is no family "{family}".{nearest}',
    cause: 'A misspelt family, or a custom stage that was not given to createKernel.',
    hint: 'Use a name from `sluice stages`, or add the stage: createKernel({ stages: [...canonicalStages, yours] }).',
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
    hint: 'Mend the field. The fields are described at Contribution.',
  },
  'duplicate-contribution': {
    message:
      'Extension "{extensionId}" has contributed "{contributionId}" already, to "{existing}".',
    cause: 'The extension was loaded twice, or two contributions share an id.',
    hint: 'Give each contribution of an extension its own id, and dispose the first before it comes again.',
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
      'The operator says what this extension may contribute, or least privilege is on and nothing was said of it.',
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
    hint: 'Mend the field. The fields are described at Given.',
  },
  'call-inactive': {
    message: '{extensionId}/{contributionId}: own.dispatch was used after its stage had ended.',
    cause: 'A handler went on after it timed out, was aborted, or had returned.',
    hint: 'Dispatch before the handler settles, and stop when call.signal aborts.',
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
    hint: 'Mend the option. The options are described at KernelOptions, and in spec/config.md for a config file.',
  },
  'bad-extension': {
    message: 'Extension "{extensionId}" is not well formed: {problem}.',
    cause: 'defineExtension, or loadExtension, was given something that is no extension.',
    hint: 'Make it so: defineExtension({ id, config, setup }).',
  },
  'wrong-sluice': {
    message: 'Extension "{extensionId}" needs Sluice {range}, and this is {version}.',
    cause: 'The manifest of the extension names the versions that it was made for.',
    hint: 'Install a version of the extension, or of Sluice, that fits.',
  },
  'duplicate-extension': {
    message: 'Extension "{extensionId}" is loaded already, from {source}.',
    cause:
      'Two extensions have one id, or one is named twice: on the command line and in the config, say.',
    hint: 'Name each extension once, and give each an id of its own.',
  },
  'not-undone': {
    message: 'Extension "{extensionId}" is fenced off: {problem}.',
    cause:
      'An undo of the extension threw or did not end, so some of it may still be at work: a successor would double it.',
    hint: 'Mend the undo, and restart the host. The log says what could not be undone.',
  },
  'unknown-extension': {
    message: 'There is no extension "{extensionId}" to reload.',
    cause: 'A misspelt id, or an extension that was not given to this host.',
    hint: 'Use the id of one of host.extensions.',
  },
  'bad-config': {
    message: '{extensionId}: {problems}',
    cause: 'The configuration does not fit the schema that the extension declares.',
    hint: 'Mend {path} in the configuration of "{extensionId}". In a config file that is: "extensions": [{ "path": ..., "config": { ... } }].',
  },
  'unreadable-dispatch': {
    message: 'What the journal has kept of dispatch {eventId} cannot be read: {problem}.',
    cause: 'The file was changed by something else, or was written by a later version.',
    hint: 'Read it with the version that wrote it; the other dispatches are not touched.',
  },
  'bad-config-schema': {
    message: '{extensionId}: its config schema cannot be used: {problem}.',
    cause:
      'A config schema must answer at once; an async refinement or transform makes it answer later.',
    hint: 'Keep the schema synchronous, and do what has to wait in setup, which may be async.',
  },
  'bad-options': {
    message: '{extensionId}/{contributionId} on "{family}": {problem}.',
    cause: 'An option of a contribution is misspelt, or is no option at all.',
    hint: 'The options are described at OptionsByClass.',
  },
  'setup-failed': {
    message: '{extensionId}: setup failed: {problem}',
    cause:
      'The setup function of the extension threw, or the promise that it returned was rejected.',
    hint: 'Mend what its setup does. None of the extension’s contributions are live.',
  },
  'setup-timed-out': {
    message: '{extensionId}: setup had not ended after {timeoutMs} ms.',
    cause: 'Setup waits for something that does not come, such as a server that does not answer.',
    hint: 'Give what setup waits for a limit of its own, or raise setupTimeoutMs.',
  },
  'setup-ended': {
    message:
      '{what} came after setup had ended; contributions are taken only from the start of setup until its promise settles.',
    cause:
      'The api object was kept and used later: in a handler, a timer, or work that setup did not await.',
    hint: 'Register in setup, and decide in the handler whether there is something to do.',
  },
  'scope-disposed': {
    message:
      '{extensionId}: "{label}" cannot be owned: the extension has been disposed. It was undone at once.',
    cause: 'The extension was unloaded, or its setup failed, while its own work went on.',
    hint: 'Take resources in setup, and stop work of your own in an undo: api.own(label, stop).',
  },
  'module-not-found': {
    message: 'Extension module "{specifier}" was not found: {problem}.',
    cause: 'A misspelt path or package name, or a package that is not installed.',
    hint: 'Paths begin with "./", "../" or "/" and are read from {from}; anything else is a package name.',
  },
  'module-failed': {
    message: 'Extension module {file} could not be imported: {problem}',
    cause: 'The module, or one that it imports, threw while it was loaded.',
    hint: 'Mend that, or install what it imports.',
  },
  'module-needs-compiling': {
    message: 'Module {file} is TypeScript that this Node ({node}) cannot import.',
    cause: 'Node imports TypeScript from 22.18 on, and then only syntax that it can erase.',
    hint: 'Compile it and name the .js file, or run with NODE_OPTIONS="--import tsx".',
  },
  'no-extension': {
    message: 'Module {file} exports no extension: {problem}.',
    cause:
      'The module has neither a default export nor one named "extension" that defineExtension made.',
    hint: 'Write `export default defineExtension({ id, setup })`.',
  },
  'plugin-not-found': {
    message: 'Plugin "{path}" was not found: {problem}.',
    cause: 'A misspelt path, or a folder without a manifest or an entry file.',
    hint: 'Name the folder that holds {wanted}.',
  },
  'bad-manifest': {
    message: 'Plugin manifest {file}: {problem}.',
    cause: 'A field of the manifest is missing or has a wrong value, or the file is not JSON.',
    hint: 'Mend the file. A manifest is an object with an id and a configSchema, which is a JSON Schema.',
  },
  'plugin-needs-sdk': {
    message: '{extensionId}: {file} imports "{specifier}" when it runs, and {problem}.',
    cause:
      'The plugin uses code of the system that it was written for, not its types alone, or it was published for another version of it.',
    hint: '{instead} Or replace the import: types may be imported with `import type`.',
  },
  'no-plugin': {
    message: '{extensionId}: {source} exports no plugin: {problem}.',
    cause: 'The module’s default export is neither a function nor an object with one.',
    hint: 'Export `(api) => {}`, or an object with register(api), as the default.',
  },
  'plugin-id-mismatch': {
    message: '{extensionId}: {source} holds the plugin "{exported}".',
    cause: 'The id in the plugin’s export or manifest is not the one that it is loaded under.',
    hint: 'Write the same id in the manifest and in the export, and load it under that.',
  },
  'plugin-failed': {
    message: '{extensionId}: its register function threw: {problem}',
    cause: 'The plugin cannot be set up, or calls something that is not there.',
    hint: 'Mend the plugin. What it had registered before stays, as in the system that it was written for.',
  },
  'plugin-unsupported': {
    message: '{extensionId}: {method} is not supported.',
    cause: 'The plugin asks for a part of its own system that has no place here.',
    hint: '{instead}',
  },
  'foreign-plugin': {
    message: 'Plugin "{what}" was loaded into another kernel than the host’s.',
    cause: 'createHost was given a plugin and not the kernel that it was loaded into.',
    hint: 'Make one kernel, and give it to both: loadLegacyPlugin(module, { kernel }) and createHost({ kernel }).',
  },
  'permit-forged': {
    message: '"{what}" was called from outside.',
    cause: 'A permit or an approval was made by hand; only a passed outcome mints one.',
    hint: 'Take permits from approveSend(outcome).mintPermit().',
  },
  'permit-used': {
    message: 'The permit of "{what}" has been used already.',
    cause: 'A channel took the message of one permit twice.',
    hint: 'Take the message once, and keep it while you send. A further attempt gets a permit of its own.',
  },
  'permit-unused': {
    message: 'The last permit of "{what}" has not been used yet.',
    cause: 'A further permit was asked for while the one before could still send the message.',
    hint: 'Hand out one permit at a time: two at once could send the message twice.',
  },
  'not-approved': {
    message: '{what} approves no send.',
    cause:
      'The value is no outcome of the kernel that sends, or one of another family, or a handler has dispatched it, or it did not pass.',
    hint: 'Give approveSend a passed outcome of "egress.preparing". One that did not pass says who stopped it.',
  },
  'permit-foreign': {
    message: 'The permit {what} is of another kernel than the one that runs this channel.',
    cause:
      'Something beside the host has made an outcome of its own, and asks the channel to send it.',
    hint: 'Send by the host: host.send(message), or an answer of a command.',
  },
  'no-target': {
    message: 'The message to "{what}" has neither a selected nor a named channel and account.',
    cause: 'No resolver chose an account, and the payload named none.',
    hint: 'Contribute a resolver to "egress.preparing", or name both in the payload.',
  },
  'approved-before': {
    message: 'Outcome "{what}" has approved a send already.',
    cause: 'One outcome was turned into two approvals, which could send one message twice.',
    hint: 'Keep the approval, or dispatch "egress.preparing" again for another send.',
  },
  'not-streaming': {
    message: 'The approval of "{what}" opens no stream.',
    cause:
      'Its "egress.preparing" was not dispatched with streaming: true, so nobody judged that parts would be shown.',
    hint: 'Dispatch "egress.preparing" with streaming: true, and open the stream with that approval.',
  },
  'stream-moved': {
    message: 'The final "{what}" goes elsewhere than its stream.',
    cause:
      'A resolver chose another account, address or thread for the final than for the opening.',
    hint: 'Ask StreamApproval.fits(final) first; abort the sender and send such a final by itself.',
  },
  'no-trigger': {
    message: 'The agent that is to answer in channel "{what}" can be asked by no trigger.',
    cause: 'deliverStream was given an agent with neither trigger nor triggerStream.',
    hint: 'Drive an agent that only runs with runAgentTurn, or by a host.',
  },
  'no-agent': {
    message: 'The host has no agent.',
    cause: 'createHost was given an empty list of agents.',
    hint: 'Give createHost at least one: agents: [{ id: "main", provider: echoProvider() }].',
  },
  'duplicate-agent': {
    message: 'Agent "{what}" is given twice.',
    cause: 'Two agents of the host have the same id.',
    hint: 'Give each agent an id of its own.',
  },
  'unknown-agent': {
    message: 'There is no agent "{what}" to be the default.',
    cause: 'defaultAgentId names none of the agents.',
    hint: 'Set defaultAgentId to the id of one of the agents.',
  },
  'no-model': {
    message: 'Agent "{what}" asks for a model that its provider does not offer.',
    cause: 'The agent’s model is misspelt, or belongs to another provider.',
    hint: 'Use a model of the provider, or leave the model out.',
  },
  'missing-package': {
    message: 'Package "{package}" cannot be used: {problem}.',
    cause: 'It is large and serves one feature, so it is installed only by those who want that.',
    hint: 'Run `npm install {package}@{version}`.',
  },
  'reserved-option': {
    message: 'Option "{option}" of {package} is set by provider "{provider}".',
    cause:
      'It would let tool calls go around the pipeline, or the provider has its own name for it.',
    hint: 'Leave it out. {instead}',
  },
  'duplicate-channel': {
    message: 'Channel "{what}" is given twice.',
    cause: 'Two channels of the host have the same id.',
    hint: 'Give a channel once; it can have several accounts.',
  },
  'no-account': {
    message: 'No account could be started: {what}.',
    cause: 'Every account of every channel failed to start, or there is none.',
    hint: 'See the log lines before this one for why each failed.',
  },
  'run-driven': {
    message: 'Run "{what}" is driven already.',
    cause:
      'An agent turn or another bridge dispatches the run, or this bridge was run before: its facts would be told twice.',
    hint: 'Give each run its own runId and its own bridge. Inside a turn, a provider yields session events and asks request.gate.',
  },
  'started-before': {
    message: 'The host was started before; it is {what}.',
    cause: 'start() was called a second time.',
    hint: 'A host starts once. Create another.',
  },
  'not-running': {
    message: 'The host cannot send: it is {what}.',
    cause: 'send() was called before start() had resolved, or after stop().',
    hint: 'Send after start() has resolved and before stop().',
  },
  'bad-value': {
    message: 'Statement "{sql}" cannot be run: {problem}.',
    cause:
      'A value that the database would not give back as it was, or too many or too few of them.',
    hint: 'Bind finite numbers, texts and null, one for each question mark. Put anything else into a JSON text.',
  },
  'database-not-opened': {
    message: 'Database {path} cannot be opened: {problem}.',
    cause: 'The folder is not there or may not be written to, or the path names a folder.',
    hint: 'Name a file in a folder that this user may write to, and make the folder first.',
  },
  'database-damaged': {
    message: 'Database {path} is damaged, or is no database: {problem}.',
    cause:
      'The file was overwritten, cut off, or copied while it was written to; or it is another file.',
    hint: 'A journal: run `sluice journal repair`, which keeps what is well and a copy of it all. Another file: move it and those beside it ({path}-wal, {path}-shm) away, and put a copy in their place.',
  },
  'database-full': {
    message: 'Database {path} cannot grow: {problem}.',
    cause: 'The disk is full, or the database has as many pages as it may have.',
    hint: 'Make room on the disk, or allow it more pages. What was being written is not in it.',
  },
  'database-read-only': {
    message: 'Database {path} cannot be written to: {problem}.',
    cause:
      'The file, its folder or the file system is read-only for this user, or it was opened so.',
    hint: 'Let this user write to the file and its folder.',
  },
  'database-busy': {
    message: 'Database {path} is in use: {problem}.',
    cause: 'Another process has been writing to it for longer than the time that is waited.',
    hint: 'Find out who else has the file open, and let one process write to it.',
  },
  'database-io': {
    message: 'Database {path} cannot be read or written: {problem}.',
    cause:
      'The disk, or the network that it is on, failed; or a limit for the size of files was reached.',
    hint: 'See what the system says about the disk. What was being written is not in the database.',
  },
  'database-constraint': {
    message: 'Database {path} refuses a row: {problem}.',
    cause: 'A row breaks a rule of its table: its key is there already, say.',
    hint: 'Look for the row first, or say in the statement what is to be done about it.',
  },
  'database-closed': {
    message: 'Database {path} is closed.',
    cause: 'Something uses it after close().',
    hint: 'Close it last.',
  },
  'database-failed': {
    message: 'Database {path} cannot do that: {problem}.',
    cause: 'The statement is wrong, or the database was used in a way that it does not allow.',
    hint: 'Mend the statement, or the call.',
  },
  'journal-in-use': {
    message: 'Journal {path} is in use by another process.',
    cause: 'A host that runs already has it open, or a command that writes to it.',
    hint: 'Stop that one first, or give this one a journal of its own.',
  },
  'journal-lost': {
    message: 'Journal {path} is lost to this host: {problem}.',
    cause:
      'The file, or one beside it ({path}-wal, {path}-shm, {path}-lock), was moved, removed or replaced while the host was running, or another process took the journal over.',
    hint: 'Put the files back if they were moved, and start the host again. It takes nothing in until then.',
  },
  'not-a-journal': {
    message: 'Database {path} is no journal that can be used: {problem}.',
    cause: 'The path names another database, or a journal that another version of sluice has made.',
    hint: 'Name another file, or use the version that has made it.',
  },
  'journal-state': {
    message: 'Journal: {what} "{id}" cannot be {wanted}: it is {state}.',
    cause: 'Something ends twice, or goes on after its end.',
    hint: 'Each update and each send ends once. Please report this with the log.',
  },
  'session-out-of-order': {
    message: 'Session event {index} breaks the order ({rule}): {problem}.',
    cause: 'An agent emitted its events in an order that their readers do not expect.',
    hint: 'Mend what emits them: checkOrdering lists every violation of a recorded run.',
  },
  'bad-client-option': {
    message: 'Option "{option}" of the gateway client is wrong: {problem}.',
    cause: 'An option of the client, or of its provider, has a wrong value.',
    hint: 'Mend the option. The options are described at the type of the constructor’s argument.',
  },
  'bad-device-key': {
    message: 'The device key {path} cannot be used: {problem}.',
    cause:
      'A device key belongs to one user, and is an Ed25519 private key that nobody else can read.',
    hint: 'Make it so (chmod 600), or take the file away: a new key is made then, and the gateway has to pair with it.',
  },
  'gateway-unreachable': {
    message: 'The gateway cannot be reached: {problem}.',
    cause: 'The address is wrong, the gateway does not run, or it does not let this client in.',
    hint: 'See that the gateway runs at that address, and that the token and the device key are the ones it knows.',
  },
  'gateway-refused': {
    message: 'The gateway refused {method} ({reason}): {problem}.',
    cause: 'The parameters are wrong, or the client’s device or scopes do not allow it.',
    hint: 'See the reason. For a missing scope: give the client a device identity, and pair it with the gateway.',
  },
  'gateway-timed-out': {
    message: 'The gateway did not answer {method} within {timeoutMs} ms.',
    cause:
      'The gateway is busy, or its answer was lost. Whether it has done what was asked is not known.',
    hint: 'Raise the time-out, or see why the gateway is slow. Ask again only what may happen twice.',
  },
  'gateway-disconnected': {
    message: 'The gateway is not connected; {method} has no answer.',
    cause: 'The connection was not there yet, or was lost while an answer was waited for.',
    hint: 'Wait for client.ready(), then ask again what may happen twice.',
  },
  'gateway-busy': {
    message: '{method} was not sent to the gateway: {problem}.',
    cause: 'More is asked of the gateway than it takes.',
    hint: 'Wait for answers before asking for more.',
  },
  'client-stopped': {
    message: 'The gateway client is stopped.',
    cause: 'stop() was called before, or while an answer was waited for.',
    hint: 'Make a new client.',
  },
  'request-aborted': {
    message: 'The wait for {method} was aborted.',
    cause: 'The signal that was given was aborted.',
    hint: 'Nothing is to be done. What the gateway has received already, it has.',
  },
  'run-registered': {
    message: 'Run "{runId}" has a callback for its {kind} events already.',
    cause: 'Two readers want the events of one run, or the first was never unregistered.',
    hint: 'Unregister the first, or listen with onEvent: it hears everything.',
  },
  'too-many-runs': {
    message: '{count} runs have a callback for their {kind} events; run "{runId}" is refused.',
    cause: 'That many runs are under way, or runs are registered and never unregistered.',
    hint: 'Let runs end first, or raise maxRuns.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** A code of the kernel's error table. */
export type ErrorCode = keyof typeof errorTable;

/** What an error is about: who, where, and the values that its text names. */
export type ErrorDetails = Readonly<Record<string, string | number | undefined>>;

/**
 * A misuse of the kernel. Expected failures are values in an `Outcome`; this is thrown (by an async call:
 * rejected) when the caller has to change something.
 *
 * @example
 * try { kernel.contribute(contribution); }
 * catch (error) { if (isSluiceError(error)) console.error(error.code, error.message, error.hint); }
 */
export class SluiceError extends Error {
  override readonly name = 'SluiceError';
  /** The row of the error table. */
  readonly code: ErrorCode;
  /** What to do. */
  readonly hint: string;
  /** Whose it is, and the values that the text names. */
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails, options?: ErrorOptions) {
    const entry: ErrorEntry = errorTable[code];
    super(fill(entry.message, details), options);
    this.code = code;
    this.hint = fill(entry.hint, details);
    this.details = details;
  }
}

/** Whether a value is a `SluiceError`, also one of another installed copy of this package. */
export function isSluiceError(value: unknown): value is SluiceError {
  return value instanceof Error && value.name === 'SluiceError' && 'code' in value;
}

function fill(text: string, details: ErrorDetails): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? ''));
}
