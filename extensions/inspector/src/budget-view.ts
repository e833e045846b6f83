import type { JournalReader } from 'sluice/host';

/** The figures of one account of `sluice-budget` on a day. Money is in millionths of a dollar. */
export interface BudgetLine {
  /** Such as `2026-03-15`: the newest day of which there are figures. */
  readonly day: string;
  readonly name: string;
  readonly unit: 'tokens' | 'microUsd';
  readonly used: number;
  /** Reserved for runs that have not ended. */
  readonly reserved: number;
  /** Absent if there is none. */
  readonly cap?: number;
}

const dayMs = 86_400_000;
/** The kinds of accounts, with the words before their names. */
const kinds = { total: '', perAgent: 'agent ', perSession: 'session ', perPrincipal: '' };
/** Accounts of one kind that are read at most. */
const readAtMost = 100;

/** Reads the accounts of the extension `budget` as its store keeps them, the fullest first. Without it there are none. */
export async function budgetView(
  keyValues: JournalReader['keyValues'],
  nowMs: number,
): Promise<readonly BudgetLine[]> {
  // a day begins where the settings say: the newest of three has begun
  for (const ahead of [1, 0, -1]) {
    const day = new Date(nowMs + ahead * dayMs).toISOString().slice(0, 10);
    const lines: BudgetLine[] = [];
    for (const [kind, word] of Object.entries(kinds)) {
      const given = { prefix: `${day}/${kind}/`, limit: readAtMost };
      for (const { body } of await keyValues.list('budget', given))
        lines.push(...linesOf(JSON.parse(body), word, day));
    }
    const share = ({ used, cap = Number.POSITIVE_INFINITY }: BudgetLine) => used / cap;
    if (lines.length > 0) return lines.sort((one, other) => share(other) - share(one));
  }
  return [];
}

/** A line for each unit in which an account has used something or has a cap. */
function linesOf(account: unknown, word: string, day: string): readonly BudgetLine[] {
  const { name, used, holds, cap } = Object(account);
  const figure = (of: unknown, unit: string) => Number(Object(of)[unit]) || 0;
  return (['tokens', 'microUsd'] as const).flatMap((unit) => {
    const reserved = Object.values(Object(holds)).reduce<number>(
      (sum, hold) => sum + figure(hold, unit),
      0,
    );
    const line = { day, name: `${word}${name}`, unit, used: figure(used, unit), reserved };
    const most = figure(cap, unit);
    if (line.used + reserved + most === 0) return [];
    return [{ ...line, ...(most > 0 && { cap: most }) }];
  });
}
