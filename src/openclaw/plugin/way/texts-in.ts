import { isFields } from 'sluice-kernel/internal';

/** The fields in which calls of the api have the text of a message. */
const named = /^(?:(?:raw|command)?body|bodyFor\w+|(?:raw)?text|content|message|ctx(?:payload)?)$/i;

/** The groups of the api whose functions take a text first. */
const ofTexts = /^api\.runtime\.channel\.(?:text|mentions|commands)\./;

/** The texts of a message in the arguments of a call: in the fields that have one, also further in. @param member the function. */
export function textsIn(given: readonly unknown[], member = ''): readonly string[] {
  const inside = (value: unknown, depth: number): readonly string[] =>
    isFields(value)
      ? Object.entries(value).flatMap(([name, one]) => {
          if (!named.test(name)) return [];
          if (typeof one === 'string') return one.trim() === '' ? [] : [one];
          return depth > 0 ? inside(one, depth - 1) : [];
        })
      : [];
  const first = ofTexts.test(member)
    ? given.slice(0, 1).filter((one) => typeof one === 'string')
    : [];
  return [...new Set([...first, ...given.flatMap((one) => inside(one, 2))])];
}
