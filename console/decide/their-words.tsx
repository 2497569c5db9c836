import { isRecord } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { Said } from '../parts/said';
import { SaidFrame } from '../parts/said-frame';
import { decideTexts } from '../texts/decide';

export function TheirWords({ answer }: { readonly answer: Json | undefined }) {
  if (!isRecord(answer)) return null;
  const { feedback, comment } = answer;
  const said = [feedback, comment].filter((text): text is string => typeof text === 'string' && text !== '');
  if (said.length === 0) return null;
  return (
    <SaidFrame who={decideTexts.theySaid}>
      {said.map((text) => (
        <Said key={text} text={text} />
      ))}
    </SaidFrame>
  );
}
