import type { ApprovalCase } from './sides.js';

const asks = { title: 'Deploy?', description: 'To production.', timeoutMs: 60_000 };
const decisions = ['allow-once', 'allow-always', 'deny'] as const;

/** A question that both sides put in the same way. */
const plain = { ...asks, allowedDecisions: decisions };

const once = (requireApproval: object, more: object = {}): ApprovalCase => ({
  answers: [{ requireApproval, ...more }],
  human: 'allow-once',
});

/** The cases in which both decide the same, and ask the same. */
export const same: Readonly<Record<string, ApprovalCase>> = {
  'allow-once': once(plain),
  deny: { ...once(plain), human: 'deny' },
  'no answer in time': { ...once(plain), human: 'nobody' },
  'no answer in time, and timeoutBehavior deny': {
    ...once({ ...plain, timeoutBehavior: 'deny' }),
    human: 'nobody',
  },
  'no answer in time, and timeoutBehavior allow, which is ignored': {
    ...once({ ...plain, timeoutBehavior: 'allow' }),
    human: 'nobody',
  },
  'an abort of the run': { ...once(plain), human: 'abort' },
  'allowedDecisions without always': once({ ...asks, allowedDecisions: ['allow-once', 'deny'] }),
  'allowedDecisions without deny': {
    ...once({ ...asks, allowedDecisions: ['allow-once'] }),
    human: 'deny',
  },
  'new parameters beside the question': once(plain, { params: { cwd: '/' } }),
  'a block beside the question': once(plain, { block: true }),
  'a block after the question': {
    answers: [{ requireApproval: plain }, { block: true }],
    human: 'allow-once',
  },
};

/** A way in which the two deliberately differ, its smallest case, and exactly the difference. */
export interface ApprovalDivergence {
  readonly what: string;
  readonly reason: string;
  readonly given: ApprovalCase;
  readonly real: object;
  readonly ours: object;
}

const seen = { title: 'Deploy?', text: 'To production.', timeoutMs: 60_000, mayAlways: true };
const ran = { command: 'ls' };

/** Every allowed difference between the bridge's questions and those of OpenClaw 2026.9.6 (judgement §4.13). */
export const divergences: Readonly<Record<string, ApprovalDivergence>> = {
  'time-is-the-hosts': {
    what: 'There, a question without timeoutMs has two minutes; here it has the time that the host gives.',
    reason: 'The operator knows how soon somebody answers.',
    given: once({ ...plain, timeoutMs: undefined }),
    real: { asked: [{ ...seen, timeoutMs: 120_000 }] },
    ours: { asked: [{ ...seen, timeoutMs: undefined }] },
  },
  'time-has-another-bound': {
    what: 'There, a question has ten minutes at most; here a day at most.',
    reason: 'The question outlives a restart, and people sleep.',
    given: once({ ...plain, timeoutMs: 3_600_000 }),
    real: { asked: [{ ...seen, timeoutMs: 600_000 }] },
    ours: { asked: [{ ...seen, timeoutMs: 3_600_000 }] },
  },
  'unfit-time-is-refused': {
    what: 'There, a timeoutMs that is no time counts as absent; here the call is refused as a failure of the plugin.',
    reason: 'A question that cannot be read is not asked (judgement §4.4).',
    given: once({ ...plain, timeoutMs: 'soon' }),
    real: { asked: [{ ...seen, timeoutMs: 120_000 }], ran, resolutions: ['p0 allow-once'] },
    ours: { asked: [], ran: undefined, resolutions: [] },
  },
  'always-is-offered-by-name': {
    what: 'There, a question without allowedDecisions offers "always", which holds for nothing but this call unless the plugin keeps it; here "always" is offered only if allowedDecisions names it.',
    reason: 'An answer that holds for later calls is never offered by default.',
    given: once(asks),
    real: { asked: [{ ...seen, mayAlways: true }] },
    ours: { asked: [{ ...seen, mayAlways: false }] },
  },
  'always-is-told-as-once': {
    what: 'There, onResolution hears allow-always; here every yes is allow-once.',
    reason:
      'The host keeps what is allowed for always (judgement §4.22), so the plugin need not keep it.',
    given: { ...once(plain), human: 'allow-always' },
    real: { resolutions: ['p0 allow-always'] },
    ours: { resolutions: ['p0 allow-once'] },
  },
  'nobody-is-asked-in-vain': {
    what: 'There, a human is asked also if allowedDecisions allows nothing; here the call is refused, and nobody is asked.',
    reason: 'A question with one answer is none.',
    given: { ...once({ ...plain, allowedDecisions: ['deny'] }), human: 'deny' },
    real: { asked: [{ ...seen, mayAlways: false }], resolutions: ['p0 deny'] },
    ours: { asked: [], resolutions: [] },
  },
  'each-question-is-asked': {
    what: 'There, the first question of several plugins is asked, and the others are dropped; here each is asked, one after the other.',
    reason: 'A human who answered one plugin has not answered another.',
    given: {
      answers: [{ requireApproval: plain }, { requireApproval: { ...plain, title: 'Sure?' } }],
      human: 'allow-once',
    },
    real: { asked: [seen], resolutions: ['p0 allow-once'] },
    ours: {
      asked: [seen, { ...seen, title: 'Sure?' }],
      resolutions: ['p0 allow-once', 'p1 allow-once'],
    },
  },
  'final-parameters-are-asked-about': {
    what: 'There, parameters that a plugin gives after a question are dropped; here they count, and the question is about them.',
    reason: 'The question is put when every handler has been called, about the final parameters.',
    given: {
      answers: [{ requireApproval: plain }, { params: { cwd: '/' } }],
      human: 'allow-once',
    },
    real: { ran },
    ours: { ran: { ...ran, cwd: '/' } },
  },
};
