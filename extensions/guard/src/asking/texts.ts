/** The sentences that the guard says in chats; an operator may replace them under `guard/KEY`. */
export const guardTexts = {
  question: '{title} (rule {rule})',
  place: '{agent}, in {folder}:',
  'not-shown': '[{count} more characters are not shown]',
  'how-to': 'Only {who} may answer. A text in place of a button denies it, and is the reason.',
  'not-you': '{name} may not answer this: only {who} may.',
  owner: 'an owner',
  role: 'somebody with the role "{role}"',
  sender: 'the sender {sender}',
  'allow-once': 'Allow once',
  'allow-session': 'Allow in this session',
  'allow-repository': 'Always in this repository',
  deny: 'Deny',
} as const;
