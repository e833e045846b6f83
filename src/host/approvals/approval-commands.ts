import type { Clock } from '../../kernel/index.js';
import type { ChatCommand, ChatCommandContext } from '../provided/chat-commands.js';
import { answerApproval, whyNotAnswer } from './answer-approval.js';
import { approvalLine } from './approval-text.js';
import type { KeptApprovals } from './kept-approvals.js';

/** The services of the commands about approvals. */
export interface ApprovalCommandParts {
  readonly approvals: KeptApprovals;
  readonly clock: Clock;
}

/**
 * The commands `/approve`, `/deny` and `/approvals`. Anyone may give them: the question says who may answer it. They wait for no
 * turn, since a turn waits for them.
 */
export function approvalCommands(parts: ApprovalCommandParts): readonly ChatCommand[] {
  const { approvals, clock } = parts;
  const common = { runsAtOnce: true, forAnyone: true } as const;

  const answer =
    (state: 'allowed' | 'denied') =>
    async ({ args, principal }: ChatCommandContext): Promise<string> => {
      const [id = '', ...words] = args;
      if (!/^[0-9a-f]{4,}$/i.test(id)) return 'Name the approval by its id: see /approvals.';
      const [row, other] = approvals.beginningWith(id);
      if (other !== undefined) return `Several approvals begin with ${id}: write more of the id.`;
      const given = { state, by: principal, reason: words.join(' ') };
      return (await answerApproval(approvals, row, given)).text;
    };

  return [
    {
      name: 'approve',
      description: 'Allows what an approval asks about: /approve ID.',
      ...common,
      run: answer('allowed'),
    },
    {
      name: 'deny',
      description: 'Denies what an approval asks about: /deny ID [reason].',
      ...common,
      run: answer('denied'),
    },
    {
      name: 'approvals',
      description: 'Lists the approvals that you may answer.',
      ...common,
      run: ({ principal: by }) => {
        const open = approvals.pending().filter((row) => whyNotAnswer(row, by) === undefined);
        if (open.length === 0) return 'No approval waits for you.';
        return open.map((row) => approvalLine(row, clock.now())).join('\n');
      },
    },
  ];
}
