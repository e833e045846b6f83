// Prints "passed failed" of a vitest JSON report: count-tests.mjs REPORT EXIT_CODE
import { existsSync, readFileSync } from 'node:fs';

const [, , path = '', code = '1'] = process.argv;
let passed = 0;
let failed = 0;
if (existsSync(path)) {
  const report = JSON.parse(readFileSync(path, 'utf8'));
  passed = report.numPassedTests;
  failed = report.numFailedTests;
  // a file that could not be loaded has failed without a test that did
  for (const { status, assertionResults } of report.testResults)
    if (status === 'failed' && !assertionResults.some((one) => one.status === 'failed')) failed++;
}
if (failed === 0 && (code !== '0' || passed === 0)) failed = 1;
console.log(`${passed} ${failed}`);
