import { errorMaker, type RowsOf } from 'sluice-kernel/internal';

/** Makes the errors of the host. */
export const hostError = errorMaker({
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
    cause: 'defaultAgent names none of the agents, and none that an extension provides.',
    hint: 'Set defaultAgent to the id of one of the agents.',
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
    cause:
      'A key names one message: the same key was used with another address, text, data or cron expression.',
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
  'bad-time': {
    message: '{extensionId}: nothing was kept for later under the key "{key}": {problem}.',
    cause: 'A time cannot be read, has passed, or is too far ahead, or its data is not plain JSON.',
    hint: 'Give a date, an ISO text or milliseconds since 1970, such as api.clock.now() + 600_000, at most ten years ahead.',
  },
  'schedule-full': {
    message: '{extensionId}: nothing was kept for later: {keptAtMost} times and messages wait.',
    cause: 'The extension keeps more for later than comes due.',
    hint: 'Cancel what nobody needs any more: list() and cancel(key) of api.laterSends, and of the schedules.',
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
});

declare module 'sluice-kernel/internal' {
  interface ErrorRows extends RowsOf<typeof hostError> {}
}
