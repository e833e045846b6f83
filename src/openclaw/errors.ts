import { errorMaker, type RowsOf } from 'sluice-kernel/internal';

/** Makes the errors of a legacy plugin. */
export const legacyError = errorMaker({
  'plugin-not-found': {
    message: 'Plugin "{path}" was not found: {problem}.',
    cause: 'A misspelt path, or a folder without a manifest or an entry file.',
    hint: 'Name the folder that holds {wanted}.',
  },
  'bad-manifest': {
    message: 'Plugin manifest {file}: {problem}.',
    cause: 'A field of the manifest is missing or has a wrong value, or the file is not JSON.',
    hint: 'Fix the file. A manifest is an object with an id and a configSchema, which is a JSON Schema.',
  },
  'plugin-needs-sdk': {
    message: '{extensionId}: {file} imports "{specifier}" when it runs, and {problem}.',
    cause:
      'The plugin uses code of the system that it was written for, not its types alone, or it was published for another version of it.',
    hint: '{instead} Or replace the import: types may be imported with `import type`.',
  },
  'openclaw-not-found': {
    message: 'There is no installed openclaw in {path}.',
    cause: 'A misspelt path, or a folder without the package.json of openclaw.',
    hint: 'Name the folder of the package itself, such as ./node_modules/openclaw.',
  },
  'channel-closed': {
    message: '{extensionId}: channel "{channelId}" delivered a message while no host was running.',
    cause:
      'The host does not run the account yet, or not any more, or its journal could not keep the message.',
    hint: 'Hand it over again later, if the provider can bring it again.',
  },
  'no-state': {
    message: '{extensionId}: it keeps something, and no host keeps it.',
    cause:
      'The stores of api.runtime.state lie in the journal of a host, and none was made with the plugin.',
    hint: 'Store things from services, channels, hooks or tools: a host runs then.',
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
    hint: 'Fix the plugin. What it had registered before stays, as in the system that it was written for.',
  },
  'plugin-unsupported': {
    message: '{extensionId}: {method} is not supported.',
    cause: 'The plugin asks for a part of its own system that has no place here.',
    hint: '{instead}',
  },
  'plugin-unsearchable': {
    message: '{extensionId} hands over more than {most} objects at once.',
    cause:
      'The plugin uses a part of its own system that has no place here. All that it hands over is searched for that part, and this is too much to search.',
    hint: 'Hand over less at once, or do not use the part: the log names it.',
  },
});

declare module 'sluice-kernel/internal' {
  interface ErrorRows extends RowsOf<typeof legacyError> {}
}
