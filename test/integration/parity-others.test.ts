import { describeScripts } from '../parity/describe-scripts';
import { others } from '../parity/seeds';

describeScripts('others', others);
