import assert from 'node:assert/strict';
import { test } from 'node:test';
import { previewIsOn } from '../../server/src/content/preview';

const handler = () => null;

test('preview: on with a handler, unless it is switched off', () => {
  assert.equal(previewIsOn({ config: { handler } }), true);
  assert.equal(previewIsOn({ enabled: true, config: { handler } }), true);
  assert.equal(previewIsOn({ enabled: false, config: { handler } }), false);
  for (const missing of [undefined, null, {}, { enabled: true }, { config: {} }]) {
    assert.equal(previewIsOn(missing), false);
  }
});
