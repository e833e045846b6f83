import { expect, it } from 'vitest';
import { askDoor, labPolicies, preToolUse, refusalIn } from '../../support/guard-lab.js';
import { GuardProcess } from '../../support/guard-process.js';

const callOf = async (guard: GuardProcess, command: string) =>
  refusalIn(await askDoor(await guard.door(), { body: preToolUse(command) }));

/** Has Claude call a command, and kills the guard when the question is out. */
async function killedAfterQuestion(guard: GuardProcess, command: string): Promise<void> {
  const before = guard.questions.length;
  const call = callOf(guard, command);
  const cut = expect(call).rejects.toThrow();
  await expect.poll(() => guard.questions.length).toBe(before + 1);
  await guard.kill();
  await cut;
}

it('a guard that is killed between a question and its answer loses neither, and a yes is used once', async () => {
  await using guard = await GuardProcess.start(labPolicies);
  await killedAfterQuestion(guard, 'deploy one');
  guard.press('Allow once');
  await guard.run();
  expect(await callOf(guard, 'deploy one')).toBeUndefined();
  expect(guard.questions).toHaveLength(1);

  await killedAfterQuestion(guard, 'deploy two');
  await guard.run();
  guard.say('not on a Friday');
  expect(await callOf(guard, 'deploy two')).toBe('a human denied it: not on a Friday');
  expect(guard.questions).toHaveLength(2);

  await killedAfterQuestion(guard, 'deploy one'); // the yes was used
  guard.press('Allow in this session');
  await guard.run();
  expect(await callOf(guard, 'deploy one')).toBeUndefined();
  await guard.kill();
  await guard.run();
  expect(await callOf(guard, 'deploy one')).toBeUndefined();
  expect(guard.questions).toHaveLength(3);
  expect(await guard.stop()).toMatchObject({ code: 0 });
});
