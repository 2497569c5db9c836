import type { ToolCall } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { AskAgain, HeldCall, Pass, Together } from '../define/inside';
import type { Frame } from '../effects/frames';
import type { Decided } from '../effects/tool-decision';

/** Note of a layer whose branch of a race asked a person, who agreed. */
export const agreed = 'agreed';

export function decidedOf({ inputHash, options }: ToolCall): Decided {
  return { hash: inputHash, options: options === undefined ? '' : canonicalJson(options) };
}

export class LayerTogether implements Together {
  constructor(private readonly frame: Frame) {}

  holds(ask: AskAgain): void {
    this.frame.decision?.holds(this.frame.key, ask);
  }

  asksAround(call?: ToolCall): boolean {
    const { decision, key } = this.frame;
    return decision?.isHeldAround(key, call === undefined ? undefined : decidedOf(call)) === true;
  }

  askAround(held: HeldCall, ask: AskAgain): Promise<Pass> {
    const { decision, key } = this.frame;
    return decision === undefined ? Promise.resolve({ runs: true, held }) : decision.askAround(key, held, ask, decidedOf);
  }

  tellsOfEdit(): void {
    this.frame.decision?.note('told-of-edit', this.frame.key);
  }

  get isToldInside(): boolean {
    const { decision, key } = this.frame;
    return decision?.noted('told-of-edit').some((layer) => layer.startsWith(`${key}/`)) === true;
  }
}
