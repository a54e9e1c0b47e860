void body(const uint64_t *slots, int64_t first_program, int64_t last_program)
{
    const int64_t *const grid = (const int64_t *)(uintptr_t)slots[0];
    char *const scratch = ((void *(*)(uint64_t))(uintptr_t)slots[1])(4352);
    float *const x = (float *)(uintptr_t)slots[2];
    float *const out = (float *)(uintptr_t)slots[3];
    float *const weight = (float *)(uintptr_t)slots[4];
    float *const bias = (float *)(uintptr_t)slots[5];
    float *const mean = (float *)(uintptr_t)slots[6];
    float *const rstd = (float *)(uintptr_t)slots[7];
    const int32_t stride = (int32_t)slots[8];
    const int32_t columns = (int32_t)slots[9];
    const float epsilon = (float)((union { uint64_t bits; double value; }){slots[10]}).value;
    float *const total_buffer = (float *)(scratch + 0);
    float *const squares_buffer = (float *)(scratch + 0);
    for (int64_t program = first_program; program < last_program; ++program) {
        const int32_t program_x = (int32_t)(program % grid[0]);
        // 35: x += row * stride
        const int32_t product = program_x * stride;
        float *x_1 = x + product;
        // 36: out += row * stride
        float *out_1 = out + product;
        // 39: for start in range(0, columns, BLOCK):
        __builtin_memset(total_buffer, 0, 1024 * sizeof *total_buffer);
        for (int64_t wide_start = 0; wide_start < columns; wide_start += 1024) {
            const int32_t start = (int32_t)wide_start;
            // 41: total += tl.load(x + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
            const int64_t row_end = (int64_t)columns - start;
            float *x_1_row = x_1 + start;
            const int64_t i_end = smaller(row_end, 1024);
            for (int64_t i = 0; i < i_end; i += 32) {
                const f32x32 total = load_f32_f32x32(total_buffer + i);
                const int count = lanes_left(row_end - i, 32);
                float x_value_part[32];
                const f32x32 x_value = load_f32_f32x32(count == 32 ? x_1_row + i : partial_load_f32(x_value_part, x_1_row + i, count, 0.0f, 32));
                const f32x32 total_1 = f32x32_add(total, x_value);
                store_f32_f32x32(total_buffer + i, total_1);
            }
            for (int64_t i = next_vector(i_end, 32); i < 1024; i += 32) {
                const f32x32 total = load_f32_f32x32(total_buffer + i);
                const f32x32 total_1 = f32x32_add(total, f32x32_splat(0.0f));
                store_f32_f32x32(total_buffer + i, total_1);
            }
        }
        // 42: row_mean = tl.sum(total, axis=0) / columns
        const float columns_1 = (float)columns;
        f32x32 sum_lanes = f32x32_splat(0.0f);
        for (int64_t i = 0; i < 1024; i += 32) {
            const f32x32 total = load_f32_f32x32(total_buffer + i);
            sum_lanes = f32x32_add(sum_lanes, total);
        }
        const float sum = f32x32_hsum(sum_lanes);
        const float row_mean = f32_div(sum, columns_1);
        // 45: for start in range(0, columns, BLOCK):
        __builtin_memset(squares_buffer, 0, 1024 * sizeof *squares_buffer);
        for (int64_t wide_start = 0; wide_start < columns; wide_start += 1024) {
            const int32_t start = (int32_t)wide_start;
            // 50: squares += centred * centred
            const i32x32 i32_lanes = i32x32_iota();
            const i32x32 start_all = i32x32_splat(start);
            const i32x32 columns_all = i32x32_splat(columns);
            const int64_t row_end = (int64_t)columns - start;
            float *x_1_row = x_1 + start;
            const f32x32 row_mean_all = f32x32_splat(row_mean);
            const int64_t i_end = smaller(row_end, 1024);
            for (int64_t i = 0; i < i_end; i += 32) {
                const f32x32 squares = load_f32_f32x32(squares_buffer + i);
                const i32x32 lane = i32x32_add(i32x32_splat((int32_t)i), i32_lanes);
                const i32x32 offsets = i32x32_add(start_all, lane);
                const i32x32 inside = i32x32_lt(offsets, columns_all);
                const int count = lanes_left(row_end - i, 32);
                float values_part[32];
                const f32x32 values = load_f32_f32x32(count == 32 ? x_1_row + i : partial_load_f32(values_part, x_1_row + i, count, 0.0f, 32));
                const f32x32 difference = f32x32_sub(values, row_mean_all);
                const f32x32 centred = f32x32_select(inside, difference, f32x32_splat(0.0f));
                const f32x32 product_1 = f32x32_mul(centred, centred);
                const f32x32 squares_1 = f32x32_add(squares, product_1);
                store_f32_f32x32(squares_buffer + i, squares_1);
            }
            for (int64_t i = next_vector(i_end, 32); i < 1024; i += 32) {
                const f32x32 squares = load_f32_f32x32(squares_buffer + i);
                const i32x32 lane = i32x32_add(i32x32_splat((int32_t)i), i32_lanes);
                const i32x32 offsets = i32x32_add(start_all, lane);
                const i32x32 inside = i32x32_lt(offsets, columns_all);
                const float difference = 0.0f - row_mean;
                const f32x32 difference_all = f32x32_splat(difference);
                const f32x32 centred = f32x32_select(inside, difference_all, f32x32_splat(0.0f));
                const f32x32 product_1 = f32x32_mul(centred, centred);
                const f32x32 squares_1 = f32x32_add(squares, product_1);
                store_f32_f32x32(squares_buffer + i, squares_1);
            }
        }
        // 51: row_rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
        f32x32 sum_lanes_1 = f32x32_splat(0.0f);
        for (int64_t i = 0; i < 1024; i += 32) {
            const f32x32 squares = load_f32_f32x32(squares_buffer + i);
            sum_lanes_1 = f32x32_add(sum_lanes_1, squares);
        }
        const float sum_1 = f32x32_hsum(sum_lanes_1);
        const float row_rstd = f32_div(1.0f, f32_sqrt(f32_div(sum_1, columns_1) + epsilon));
        // 53: tl.store(mean + row, row_mean)
        mean[program_x] = row_mean;
        // 54: tl.store(rstd + row, row_rstd)
        rstd[program_x] = row_rstd;
        // 55: for start in range(0, columns, BLOCK):
        for (int64_t wide_start = 0; wide_start < columns; wide_start += 1024) {
            const int32_t start = (int32_t)wide_start;
            // 61: tl.store(out + offsets, result, mask=inside)
            const int64_t row_end = (int64_t)columns - start;
            float *out_1_row = out_1 + start;
            float *x_1_row = x_1 + start;
            const f32x32 row_mean_all = f32x32_splat(row_mean);
            const f32x32 row_rstd_all = f32x32_splat(row_rstd);
            float *weight_row = weight + start;
            float *bias_row = bias + start;
            const int64_t i_end = smaller(row_end, 1024);
            for (int64_t i = 0; i < i_end; i += 32) {
                const int count = lanes_left(row_end - i, 32);
                float values_part[32];
                const f32x32 values = load_f32_f32x32(count == 32 ? x_1_row + i : partial_load_f32(values_part, x_1_row + i, count, 0.0f, 32));
                const f32x32 difference = f32x32_sub(values, row_mean_all);
                const f32x32 normalised = f32x32_mul(difference, row_rstd_all);
                float weight_value_part[32];
                const f32x32 weight_value = load_f32_f32x32(count == 32 ? weight_row + i : partial_load_f32(weight_value_part, weight_row + i, count, 0, 32));
                const f32x32 product_1 = f32x32_mul(normalised, weight_value);
                float bias_value_part[32];
                const f32x32 bias_value = load_f32_f32x32(count == 32 ? bias_row + i : partial_load_f32(bias_value_part, bias_row + i, count, 0, 32));
                const f32x32 result = f32x32_add(product_1, bias_value);
                if (count == 32)
                    store_f32_f32x32(out_1_row + i, result);
                else {
                    float part[32];
                    store_f32_f32x32(part, result);
                    partial_store_f32(out_1_row + i, part, count);
                }
            }
        }
    }
}
