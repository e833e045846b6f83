import { errorMaker, type RowsOf } from 'sluice-kernel/internal';

/** Makes the errors of defining, loading and running an extension. */
export const extensionError = errorMaker({
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
  'two-copies': {
    message:
      'Extension "{extensionId}" was defined by the Sluice in {theirs}, and the host is the Sluice in {own}.',
    cause:
      'Two copies of the package are installed: types, permits and errors of the one are foreign to the other.',
    hint: 'Keep one copy. An extension has "sluice" as a peer dependency; `npm ls sluice` shows who brings another. Start the host from the folder of the copy that stays, by `npx sluice run`.',
  },
  'duplicate-extension': {
    message: 'Extension "{extensionId}" is loaded already, from {source}.',
    cause:
      'Two extensions have one id, or one is named twice: on the command line and in the config, say.',
    hint: 'Name each extension once, and give each an id of its own.',
  },
  'audited-provider': {
    message:
      'Extension "{extensionId}" cannot be audited: it provides a thing of the kind "{kind}".',
    cause: 'A host cannot do without the channels and agents that it is set to use.',
    hint: 'Audit its handlers one by one: "overrides": { "{extensionId}/HANDLER": { "mode": "audit" } }.',
  },
  'not-undone': {
    message: 'Extension "{extensionId}" was isolated because its cleanup failed: {problem}.',
    cause:
      'An undo of the extension threw or did not end, so some of it may still be at work: a successor would double it.',
    hint: 'Fix the undo, and restart the host. The log says what could not be undone.',
  },
  'unknown-extension': {
    message: 'There is no extension "{extensionId}" to reload.',
    cause: 'A misspelt id, or an extension that was not given to this host.',
    hint: 'Use the id of one of host.extensions.',
  },
  'bad-config': {
    message: '{extensionId}: {problems}',
    cause: 'The configuration does not fit the schema that the extension declares.',
    hint: 'Fix {path} in the configuration of "{extensionId}". In a config file that is: "extensions": [{ "path": ..., "config": { ... } }]; on the command line: --set {extensionId}.KEY=VALUE.',
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
    hint: 'Fix what its setup does. None of the extension’s contributions are live.',
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
  'extension-gone': {
    message: '{extensionId}: {what} came after the extension was unloaded.',
    cause:
      'A timer, a listener or other work of the extension outlived it, and kept its api: a reload has put another version in its place.',
    hint: 'Hang such work on the extension, so that it ends with it: api.own(label, stop).',
  },
  'no-host': {
    message: '{extensionId}: {what} needs a host, and there is none.',
    cause:
      'The extension was loaded into a kernel alone, or its host has not been made yet or has stopped.',
    hint: 'Load it by createHost({ extensions }) or `sluice run`, and call {what} while the host runs.',
  },
  'bad-registration': {
    message: '{what}: {problem}.',
    cause:
      'A thing that is registered by name belongs to its name over restarts, so each has its own; and the times of a schedule are read when it is registered.',
    hint: 'Give each a name of its own, such as "evening-report", and a schedule its times: { cron: "0 9 * * *", timeZone: "Europe/Berlin" }, or { at: "2026-03-15T09:00" }.',
  },
  'bad-store-key': {
    message: '{extensionId}: {key} is no key of a store.',
    cause: 'A key is a text of 1 to 512 characters without control characters.',
    hint: 'Make a key of the ids that name the value, such as "asked/42".',
  },
  'not-storable': {
    message: '{extensionId}: "{key}" was not kept: {path}: {problem}.',
    cause:
      'A store keeps plain JSON: text, finite numbers, true, false, null, and lists and objects of these.',
    hint: 'Keep the data of it: the ISO text of a date, say, or [...map] of a map.',
  },
  'store-full': {
    message: '{extensionId}: its store is full: it would hold {problem}.',
    cause: 'Each extension has a quota, so that none fills the disk of its host.',
    hint: 'Give values a ttlMs, delete old ones, and keep large data in files of api.stateDir. `sluice store list` shows the keys.',
  },
  'module-not-found': {
    message: 'Extension module "{specifier}" was not found: {problem}.',
    cause: 'A misspelt path or package name, or a package that is not installed.',
    hint: 'Paths begin with "./", "../" or "/" and are read from {from}; anything else is a package name.',
  },
  'module-failed': {
    message: 'Extension module {file} could not be imported: {problem}',
    cause: 'The module, or one that it imports, threw while it was loaded.',
    hint: 'Fix the module, or install the packages that it imports.',
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
});

declare module 'sluice-kernel/internal' {
  interface ErrorRows extends RowsOf<typeof extensionError> {}
}
