import type { Json } from '../../contract/messages/messages';
import type { ShownStep } from '../projection/steps';
import { partsOf } from './parts';
import type { A2aArtifact, A2aPart, A2aUpdate } from './wire';

interface Growing {
  readonly name: string;
  text: string;
  files: readonly A2aPart[];
  isWhole: boolean;
}

const outputId = 'output';

/** Each message with text or files is an artifact, by the address of its model call. */
export class TaskArtifacts {
  private readonly growing = new Map<string, Growing>();
  /** Messages with a void attempt, which the next attempt replaces. */
  private readonly voids = new Set<string>();
  private made: A2aArtifact | undefined;

  constructor(private readonly of: { readonly taskId: string; readonly contextId: string }) {}

  all(): readonly A2aArtifact[] {
    const said = [...this.growing].map(([artifactId, { name, text, files }]) => ({
      artifactId,
      name,
      parts: [...(text === '' ? [] : [{ text }]), ...files],
    }));
    return this.made === undefined ? said : [...said, this.made];
  }

  *take(step: Exclude<ShownStep, { readonly step: 'event' }>): Generator<A2aUpdate, void, void> {
    switch (step.step) {
      case 'text': {
        const artifactId = this.placeOf(step.id);
        const known = this.growing.get(artifactId);
        if (known === undefined) this.growing.set(artifactId, { name: step.agent, text: step.text, files: [], isWhole: false });
        else known.text += step.text;
        return yield this.update({ artifactId, name: step.agent, parts: [{ text: step.text }] }, known !== undefined, false);
      }
      case 'void': {
        const artifactId = this.placeOf(step.id);
        this.voids.add(artifactId);
        return yield* this.takeBack(artifactId);
      }
      case 'message': {
        const artifactId = this.placeOf(step.id);
        const known = this.growing.get(artifactId);
        const files = partsOf(step.message.parts.filter(({ type }) => type === 'file'));
        if (known === undefined && files.length === 0) return;
        this.growing.delete(artifactId);
        this.growing.set(artifactId, { name: step.agent, text: known?.text ?? '', files, isWhole: true });
        // An artifact must have a part, even after all its texts were sent.
        const parts = files.length > 0 ? files : [{ text: '' }];
        return yield this.update({ artifactId, name: step.agent, parts }, known !== undefined, true);
      }
      default:
        return;
    }
  }

  /** At the turn's end, texts outside the log become void. */
  *end(): Generator<A2aUpdate, void, void> {
    for (const [artifactId, { isWhole }] of [...this.growing]) if (!isWhole) yield* this.takeBack(artifactId);
  }

  *output(output: Json): Generator<A2aUpdate, void, void> {
    this.made = { artifactId: outputId, name: outputId, parts: [{ data: output, mediaType: 'application/json' }] };
    yield this.update(this.made, false, true);
  }

  private *takeBack(artifactId: string): Generator<A2aUpdate, void, void> {
    const known = this.growing.get(artifactId);
    if (known === undefined) return;
    this.growing.delete(artifactId);
    yield this.update({ artifactId, name: known.name, parts: [{ text: '' }] }, false, false);
  }

  private placeOf(id: string): string {
    const first = id.replace(/~\d+$/, '');
    return this.voids.has(first) ? first : id;
  }

  private update(artifact: A2aArtifact, isMore: boolean, isLast: boolean): A2aUpdate {
    const append = isMore ? { append: true as const } : {};
    const lastChunk = isLast ? { lastChunk: true as const } : {};
    return { artifactUpdate: { ...this.of, artifact, ...append, ...lastChunk } };
  }
}
