import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AuditRecord, allow, previewObstacles } from '../../src/kernel/internal.js';
import { byName, createLab, type LabCall, type LabOutcome } from '../support/kernel-lab.js';
import { install, type Program, payloads, programs } from '../support/kernel-programs.js';

/** More programs with `LAW_RUNS=10000`. */
const numRuns = Number(process.env['LAW_RUNS'] ?? 150);

const isAudited = (program: Program, chosen: boolean | undefined): boolean =>
  chosen === true && program.class !== 'observer';

function facts(outcome: LabOutcome, calls: readonly string[]) {
  return {
    status: outcome.status,
    payload: outcome.payload,
    annotations: outcome.annotations,
    changes: outcome.changes.map((one) => `${byName(one)} ${one.path} ${one.overruled === true}`),
    failures: outcome.failures.map((one) => `${byName(one)} ${one.kind} ${one.policy}`),
    cancel: outcome.cancel,
    selected: outcome.selection,
    candidates: outcome.candidates,
    stale: outcome.staleApprovals,
    calls,
  };
}

describe('an audited handler', () => {
  it.each(['lab.sequential', 'lab.sync', 'lab.sequential-closed', 'lab.sync-closed'])(
    'changes nothing on %s: the outcome and all other calls are as without it (judgement §3.2)',
    async (family) => {
      const seen = { audits: 0, objections: 0, patches: 0, rechecks: 0, failures: 0 };
      const veto: Program = { id: 'h', class: 'veto', returns: () => allow(), options: {} };
      const list = programs(undefined, 8)
        .map((made) => [veto, ...made])
        .chain((made) => {
          const each = <T>(one: fc.Arbitrary<T>) =>
            fc.array(one, { minLength: made.length, maxLength: made.length });
          const how = fc.constantFrom('sync', 'async', 'never', 'writes');
          return fc.tuple(fc.constant(made), each(fc.boolean()), each(how));
        });
      await fc.assert(
        fc.asyncProperty(list, payloads, async ([made, chosen, ways], payload) => {
          const run = async (withAudited: boolean) => {
            const calls: string[] = [];
            const audits: AuditRecord[] = [];
            const ids = made.filter((one, i) => isAudited(one, chosen[i])).map(({ id }) => id);
            const lab = createLab({
              overrides: Object.fromEntries(ids.map((id) => [`x/${id}`, { mode: 'audit' }])),
              tap: { audit: (record) => void audits.push(record) },
            });
            const own = made.flatMap((program, i): Program[] => {
              const isIn = ids.includes(program.id);
              if (isIn && !withAudited) return [];
              const way = ways[i];
              const returns = (call: LabCall): unknown => {
                if (!isIn) {
                  calls.push(`${program.id} ${call.pass} ${JSON.stringify(call.payload)}`);
                  return program.returns(call);
                }
                if (way === 'never' && family.startsWith('lab.sequential'))
                  return new Promise(() => undefined);
                if (way === 'writes')
                  try {
                    call.payload.title = 'written';
                  } catch {
                    // it is frozen
                  }
                if (way !== 'async') return program.returns(call);
                return new Promise((resolve) => resolve(program.returns(call)));
              };
              return [{ ...program, returns }];
            });
            install(lab.kernel, family, own, ({ id }) => -made.findIndex((one) => one.id === id));
            const outcome = facts(await lab.kernel.run(family, structuredClone(payload)), calls);
            const obstacles = previewObstacles(lab.kernel.plan(family)).map(byName);
            await lab.clock.advance(1_000);
            seen.audits += audits.length;
            seen.rechecks += audits.filter(({ pass }) => pass === 'recheck').length;
            for (const { verdict } of audits) {
              if (verdict === 'cancel') seen.objections++;
              if (verdict === 'patch') seen.patches++;
              if (verdict === 'failed') seen.failures++;
            }
            return { outcome, obstacles };
          };
          expect(await run(true)).toEqual(await run(false));
        }),
        { numRuns },
      );
      expect(Math.min(...Object.values(seen))).toBeGreaterThan(0); // they would have done something
    },
  );
});
