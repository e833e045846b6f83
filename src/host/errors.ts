import { type ErrorRow, errorMaker } from '../kernel/index.js';

/** The errors of the host, its journal and its databases. */
export const hostErrors = {
  'state-dir': {
    message: 'The folder {path} for the files of "{extensionId}" could not be made: {problem}.',
    cause: 'The folder of the journal cannot be written, or a file of that name is in the way.',
    hint: 'Give the user of the host the right to write there, or name another folder: stateDir in the config.',
  },
  'unreadable-dispatch': {
    message: 'What the journal has kept of dispatch {eventId} cannot be read: {problem}.',
    cause: 'The file was changed by something else, or was written by a later version.',
    hint: 'Read it with the version that wrote it; the other dispatches are not touched.',
  },
  'foreign-plugin': {
    message: 'Plugin "{what}" was loaded into another kernel than the host’s.',
    cause: 'createHost was given a plugin and not the kernel that it was loaded into.',
    hint: 'Make one kernel, and give it to both: loadLegacyPlugin(module, { kernel }) and createHost({ kernel }).',
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
    cause: 'defaultAgentId names none of the agents, and none that an extension provides.',
    hint: 'Set defaultAgentId to the id of one of the agents.',
  },
  'no-model': {
    message:
      'Agent "{what}" asks for model "{model}", which its provider does not offer: {offered}.',
    cause: 'The agent’s model is misspelt, or belongs to another provider.',
    hint: 'Use one of the models that it offers, or leave the model out.',
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
  'started-before': {
    message: 'The host was started before; it is {what}.',
    cause: 'start() was called a second time.',
    hint: 'A host starts once. Create another.',
  },
  'key-conflict': {
    message: '{extensionId}: the key "{key}" names another message, which was kept before.',
    cause: 'A key names one message: the same key was used with another address or another text.',
    hint: 'Name the message in the key, such as "reminder/42/2026-03-15"; to say more, use a further key.',
  },
  'bad-injection': {
    message: '{extensionId}: nothing was injected: {problem}.',
    cause:
      'api.inject was called without the key of a session, without a text, or with one that is too long.',
    hint: 'Give it the sessionKey of a call or of a message, and a text with words in it. Inject the summary of a long text, and keep the text in a file.',
  },
  'too-many-sends': {
    message: '{extensionId}: a message was not sent: {problem}.',
    cause: 'The extension sends upon its own sends, in a circle, or sends more than people read.',
    hint: 'Look at who caused a send before you send upon it (`event.metadata.extensionId`), and put many lines into one message.',
  },
  'not-kept': {
    message: '{extensionId}: it was not taken in: {problem}.',
    cause: 'The journal takes nothing in, or the message is larger than it keeps.',
    hint: 'Send it again later; `sluice doctor` and the log say why the journal keeps nothing.',
  },
  'question-open': {
    message: '{extensionId}: "{name}" was not asked: question {open} of that name is open there.',
    cause: 'A conversation has one open question of a name: an answer would fit both.',
    hint: 'Wait for its end (the handler of api.question), or register another name.',
  },
  'question-full': {
    message: '{extensionId}: a question was not asked: {openAtMost} are open.',
    cause: 'The extension asks more than people answer, or gives its questions too much time.',
    hint: 'Give questions a shorter timeoutMs, and ask less.',
  },
  'bad-question': {
    message: '{extensionId}: "{name}" was not asked: {problem}.',
    cause: 'An option, the time or the place of a question is not as api.question takes it.',
    hint: 'See QuestionMessage and AskOptions.',
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
    hint: 'Make room on the disk, or allow it more pages. The write that failed is not in it.',
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
    hint: 'See what the system says about the disk; if it is a PostgreSQL, see that it runs and that its address is right. The write that failed is not in the database.',
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
  'journal-not-repaired': {
    message: 'Journal {path} cannot be repaired: {problem}.',
    cause: 'No row of a journal can be found in it; or it is another file.',
    hint: 'It is as it was. Put a copy in its place, or move it and those beside it ({path}-wal, {path}-shm) away: the host begins a new one.',
  },
  'journal-lost': {
    message: 'Journal {path} is lost to this host: {problem}.',
    cause:
      'The file, or one beside it ({path}-wal, {path}-shm, {path}-lock), was moved, removed or replaced while the host was running, or another process took the journal over. Of a journal in PostgreSQL: the host was not heard of for a whole lease.',
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
} as const satisfies Record<string, ErrorRow>;

/** The rows as a type. */
export type HostErrors = typeof hostErrors;

declare module '../kernel/errors.js' {
  interface ErrorRows extends HostErrors {}
}

/** Makes an error of this layer. */
export const hostError = errorMaker(hostErrors);
