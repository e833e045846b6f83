import type { Agent } from './agents.js';

/**
 * Returns whether a text mentions an agent: its name after an `@`, as a whole word and in its own case, or its id as Slack
 * writes it, `<@U999>` or `<@U999|name>`. `@TestBot.` mentions TestBot; `@TestBotany`, `@TestBot-2`, `@TestBot.dev`
 * and `ada@TestBot` do not.
 */
export function namesAgent(text: string, { name, botUserId }: Agent): boolean {
  if (
    botUserId !== undefined &&
    (text.includes(`<@${botUserId}>`) || text.includes(`<@${botUserId}|`))
  )
    return true;
  if (name === undefined) return false;
  const mention = `@${name}`;
  for (let at = text.indexOf(mention); at >= 0; at = text.indexOf(mention, at + 1))
    if (
      !endsInWord.test(text.slice(0, at).slice(-2)) &&
      !goesOn.test(text.slice(at + mention.length))
    )
      return true;
  return false;
}

/** A mention after this is part of an address. Two units are enough for one character. */
const endsInWord = /[\p{L}\p{M}\p{N}_]$/u;

/** The letters that make a name a longer one. A full stop or a dash does only if a word follows it. */
const goesOn = /^[.-]?[\p{L}\p{M}\p{N}_]/u;
