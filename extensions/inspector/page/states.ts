import type { Message } from './shapes.js';
import { clockOf } from './words.js';

/** The state of a message in words, and its tone. */
export interface StateWords {
  readonly words: string;
  /** Why, if it did not end well. */
  readonly why?: string | undefined;
  readonly tone: 'good' | 'bad' | 'odd' | 'calm';
  /** It has not ended: it waits, or something works on it. */
  readonly isOpen: boolean;
}

type Tone = StateWords['tone'];

/** How each end of a message is said (`MessageEnd`). */
const ends: Readonly<Record<string, readonly [words: string, tone: Tone]>> = {
  answered: ['was answered', 'good'],
  silent: ['was read; there was nothing to say', 'calm'],
  command: ['was a command, and is done', 'good'],
  interaction: ['was a button or a form, and is done', 'good'],
  answer: ['answered a question of an extension', 'good'],
  joined: ['is answered with the message before it', 'calm'],
  job: ['was work of an extension, and is done', 'good'],
  cancelled: ['was stopped by a rule', 'bad'],
  aborted: ['was stopped before its answer', 'odd'],
  failed: ['failed', 'bad'],
  undecodable: ['could not be read', 'bad'],
  ignored: ['needs no answer', 'calm'],
  ended: ['has ended', 'calm'],
  dead: ['failed, and is a dead letter', 'bad'],
};

/** How each step of an open message is said. */
const steps: Readonly<Record<string, string>> = {
  accepted: 'waits for its turn',
  begun: 'is being answered',
  'given-back': 'waits to go on',
  left: 'waits for the next host',
};

/** Says what became of a message, or what it waits for and since when. */
export function stateOf({ state, toMs, ...message }: Message): StateWords {
  const end = Object.hasOwn(ends, state) ? ends[state] : undefined;
  if (end !== undefined) {
    const isBad = end[1] === 'bad' || end[1] === 'odd';
    return { words: end[0], why: isBad ? message.reason : undefined, tone: end[1], isOpen: false };
  }
  const { question } = message;
  const isAsked = question?.state === 'pending';
  const what = isAsked ? `waits for ${answerOf(message)}` : (steps[state] ?? state);
  const words = `${what} since ${clockOf(isAsked ? question.atMs : toMs)}`;
  return { words, tone: isAsked ? 'odd' : 'calm', isOpen: true };
}

/** Says whose answer a message waits for. */
function answerOf({ question, approver, sender }: Omit<Message, 'state' | 'toMs'>): string {
  if (question?.of === 'extension') return 'an answer to a question';
  if (approver === 'principal') return `${sender ?? 'the sender'}'s approval`;
  if (approver === 'owner') return "an owner's approval";
  return approver === undefined ? 'an approval' : `approval by the role ${approver}`;
}
