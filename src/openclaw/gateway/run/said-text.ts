import { isAnotherMessage, type SnapshotFact } from './run-fact.js';

/**
 * Gathers the texts of a run as they grow.
 *
 * @param messages `all`: the messages one after the other, with a blank line between; not the last alone.
 * @param bound cuts a text that is too long.
 * @returns takes the next fact; gives the text so far.
 */
export function saidText(
  messages: 'last' | 'all',
  bound: (text: string) => string,
): (fact: SnapshotFact) => string {
  let before = '';
  let message = '';
  let said = '';
  return (fact) => {
    if (messages === 'all' && isAnotherMessage(message, fact)) before = `${said}\n\n`;
    message = fact.text;
    said = bound(`${before}${message}`);
    return said;
  };
}
