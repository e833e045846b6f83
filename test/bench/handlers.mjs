/**
 * The handlers. Each comes from its own `new Function`, so that every one is a function literal of its own and
 * call sites are megamorphic, as with real extensions: closures of one literal would be inlined by V8 and flatter
 * every loop. All contenders get the same bodies; only the parameter differs: Sluice and the floor pass an event that
 * holds the payload, the peers pass the payload itself, which is what they are good at.
 */

/** What the handlers leave behind, to see that every contender did the same work. */
export const tally = { calls: 0, chars: 0 };

let minted = 0;

function mint(parameter, body, isAsync = false) {
  const keyword = isAsync ? 'async function' : 'function';
  return new Function('tally', `return ${keyword} handler${minted++}(${parameter}) { ${body} }`)(
    tally,
  );
}

const count = 'tally.calls = (tally.calls + 1) | 0;';
const letters = 'abcdefghijklmnopqrstuvwxyz';

/** Reads a field, bumps a counter. */
export function observers(parameter, n, isAsync = false) {
  const body = `${count} tally.chars = (tally.chars + payload.content.length) | 0;`;
  return Array.from({ length: n }, () => mint(parameter, body, isAsync));
}

/** The fields that mutators write, one each: different extensions write different fields, so their patches differ in shape. */
export const patchKeys = [
  'content',
  'channel',
  'accountId',
  'senderId',
  'senderName',
  'conversationId',
  'messageId',
  'threadId',
];

/** Each puts a letter of its own behind a text: the first behind the first field, the ninth behind that again. */
export function mutators(parameter, n, isAsync = false) {
  return Array.from({ length: n }, (_, i) => {
    const key = patchKeys[i % patchKeys.length];
    return mint(
      parameter,
      `${count} return { ${key}: payload.${key} + '${letters[i % 26]}' };`,
      isAsync,
    );
  });
}

/** All look at the text; the one at `cancelAt` (from 1) cancels. */
export function vetoes(parameter, n, cancelAt) {
  const look = `${count} if (payload.content.length === 0) return undefined;`;
  const cancels = `${look} return { kind: 'cancel', code: 'quiet-hours', text: 'until 8:00' };`;
  return Array.from({ length: n }, (_, i) => mint(parameter, i === cancelAt - 1 ? cancels : look));
}

/** One handler of each class; the veto last, since it would judge again what came after it. */
export function oneOfEach(parameter) {
  const select = `{ kind: 'select', target: { route: payload.channel }, explicit: false, rank: 1 }`;
  return [
    { class: 'observer', handler: observers(parameter, 1)[0] },
    {
      class: 'augmenter',
      handler: mint(parameter, `${count} return { topic: payload.senderName };`),
    },
    { class: 'mutator', handler: mutators(parameter, 1)[0] },
    { class: 'resolver', handler: mint(parameter, `${count} return ${select};`) },
    { class: 'veto', handler: vetoes(parameter, 1, 0)[0] },
  ];
}
