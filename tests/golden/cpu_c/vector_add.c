void body(const uint64_t *slots, int64_t first_program, int64_t last_program)
{
    const int64_t *const grid = (const int64_t *)(uintptr_t)slots[0];
    float *const x = (float *)(uintptr_t)slots[2];
    float *const y = (float *)(uintptr_t)slots[3];
    float *const out = (float *)(uintptr_t)slots[4];
    const int32_t n = (int32_t)slots[5];
    for (int64_t program = first_program; program < last_program; ++program) {
        const int32_t program_x = (int32_t)(program % grid[0]);
        // 23: offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        const int32_t offsets_start = program_x * 1024;
        // 26: tl.store(out + offsets, total, mask=inside)
        const int64_t row_end = (int64_t)n - offsets_start;
        float *out_row = out + offsets_start;
        float *x_row = x + offsets_start;
        float *y_row = y + offsets_start;
        const int64_t i_end = smaller(row_end, 1024);
        for (int64_t i = 0; i < i_end; i += 32) {
            const int count = lanes_left(row_end - i, 32);
            float x_value_part[32];
            const f32x32 x_value = load_f32_f32x32(count == 32 ? x_row + i : partial_load_f32(x_value_part, x_row + i, count, 0, 32));
            float y_value_part[32];
            const f32x32 y_value = load_f32_f32x32(count == 32 ? y_row + i : partial_load_f32(y_value_part, y_row + i, count, 0, 32));
            const f32x32 total = f32x32_add(x_value, y_value);
            if (count == 32)
                store_f32_f32x32(out_row + i, total);
            else {
                float part[32];
                store_f32_f32x32(part, total);
                partial_store_f32(out_row + i, part, count);
            }
        }
    }
}
