import { leaseLost, stopped } from './cuts.js';
import { answersSurvive } from './survives.js';

answersSurvive('SIGTERM', stopped);
answersSurvive('a lost lease', leaseLost);
