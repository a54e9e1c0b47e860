void body(const uint64_t *slots, int64_t first_program, int64_t last_program)
{
    const int64_t *const grid = (const int64_t *)(uintptr_t)slots[0];
    char *const scratch = ((void *(*)(uint64_t))(uintptr_t)slots[1])(4352);
    float *const out = (float *)(uintptr_t)slots[2];
    float *const x = (float *)(uintptr_t)slots[3];
    const int32_t out_stride = (int32_t)slots[4];
    const int32_t x_stride = (int32_t)slots[5];
    const int32_t columns = (int32_t)slots[6];
    float *const numerator_buffer = (float *)(scratch + 0);
    for (int64_t program = first_program; program < last_program; ++program) {
        const int32_t program_x = (int32_t)(program % grid[0]);
        // 28: values = tl.load(x + row * x_stride + offsets, mask=inside, other=-float("inf"))
        float *x_offset = x + program_x * x_stride;
        // 29: numerator = tl.exp(values - tl.max(values, axis=0))
        f32x32 max_lanes = f32x32_splat(__builtin_nanf(""));
        const int64_t i_end = smaller(columns, 1024);
        for (int64_t i = 0; i < i_end; i += 32) {
            const int count = lanes_left(columns - i, 32);
            float values_part[32];
            const f32x32 values = load_f32_f32x32(count == 32 ? x_offset + i : partial_load_f32(values_part, x_offset + i, count, -__builtin_inff(), 32));
            max_lanes = f32x32_max(max_lanes, values);
        }
        for (int64_t i = next_vector(i_end, 32); i < 1024; i += 32) {
            max_lanes = f32x32_max(max_lanes, f32x32_splat(-__builtin_inff()));
        }
        const float max = f32x32_hmax(max_lanes);
        // 31: tl.store(out + row * out_stride + offsets, result, mask=inside)
        float *out_offset = out + program_x * out_stride;
        // 29: numerator = tl.exp(values - tl.max(values, axis=0))
        // 30: result = numerator / tl.sum(numerator, axis=0)
        const f32x32 max_all = f32x32_splat(max);
        f32x32 sum_lanes = f32x32_splat(0.0f);
        for (int64_t i = 0; i < i_end; i += 32) {
            const int count = lanes_left(columns - i, 32);
            float values_part[32];
            const f32x32 values = load_f32_f32x32(count == 32 ? x_offset + i : partial_load_f32(values_part, x_offset + i, count, -__builtin_inff(), 32));
            const f32x32 difference = f32x32_sub(values, max_all);
            const f32x32 numerator = f32x32_exp(difference);
            sum_lanes = f32x32_add(sum_lanes, numerator);
            store_f32_f32x32(numerator_buffer + i, numerator);
        }
        for (int64_t i = next_vector(i_end, 32); i < 1024; i += 32) {
            const float difference = (-__builtin_inff()) - max;
            const float numerator = f32_exp(difference);
            const f32x32 numerator_all = f32x32_splat(numerator);
            sum_lanes = f32x32_add(sum_lanes, numerator_all);
            store_f32_f32x32(numerator_buffer + i, numerator_all);
        }
        const float sum = f32x32_hsum(sum_lanes);
        // 31: tl.store(out + row * out_stride + offsets, result, mask=inside)
        const f32x32 sum_all = f32x32_splat(sum);
        for (int64_t i = 0; i < i_end; i += 32) {
            const int count = lanes_left(columns - i, 32);
            const f32x32 numerator = load_f32_f32x32(numerator_buffer + i);
            const f32x32 result = f32x32_div(numerator, sum_all);
            if (count == 32)
                store_f32_f32x32(out_offset + i, result);
            else {
                float part[32];
                store_f32_f32x32(part, result);
                partial_store_f32(out_offset + i, part, count);
            }
        }
    }
}
