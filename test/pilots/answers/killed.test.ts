import { away, killed, reloaded } from './cuts.js';
import { answersSurvive } from './survives.js';

answersSurvive('kill -9', killed);
answersSurvive('a reload of its agent', reloaded('agent'));
answersSurvive('a reload of all extensions', reloaded('all'));
answersSurvive('a journal that is away', away);
