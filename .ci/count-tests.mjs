// Prints "passed failed" of a vitest JSON report, and on stderr the name of each test that failed, and what went wrong beside them:
// count-tests.mjs REPORT EXIT_CODE
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [, , path = '', code = '1'] = process.argv;
let passed = 0;
let failed = 0;
if (existsSync(path)) {
  const report = JSON.parse(readFileSync(path, 'utf8'));
  passed = report.numPassedTests;
  failed = report.numFailedTests;
  for (const { name, status, assertionResults } of report.testResults) {
    const file = relative(process.cwd(), name);
    const failures = assertionResults.filter((one) => one.status === 'failed');
    for (const { fullName } of failures) console.error(`${file}: ${fullName}`);
    // a file that could not be loaded has failed without a test that did
    if (status === 'failed' && failures.length === 0) {
      console.error(`${file}: could not be loaded`);
      failed++;
    }
  }
}
if (existsSync(`${path}.errors`)) {
  const errors = readFileSync(`${path}.errors`, 'utf8');
  if (errors !== '') console.error(`beside the tests: ${errors}`);
}
if (failed === 0 && (code !== '0' || passed === 0)) failed = 1;
console.log(`${passed} ${failed}`);
